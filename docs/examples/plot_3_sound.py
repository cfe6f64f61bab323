"""
Notes of a chord
================

Three plucked notes: together, in pairs and alone. Their number, pitch and onsets are found.
"""

from partwise import SourceSeparation, plot
from partwise.datasets import make_chord

chord = make_chord(["C4", "E4", "G4"], sampling_rate=8000, random_state=0)
model = SourceSeparation(3, n_init=1).fit(chord.data, chord.sampling_rate)
print(model.note_names_)
separation = plot.separation(model)

# %%
# The parts are sounds, and add up to the recording.

parts = model.separate()
print(parts.shape, abs(parts.sum(axis=0) - chord.data).max() < 1e-6)
