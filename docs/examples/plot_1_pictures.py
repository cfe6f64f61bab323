"""
Parts of pictures
=================

Handwritten digits as sums of sixteen parts. Nothing can be subtracted, so parts come out as strokes.
"""

from partwise import NMF, plot
from partwise.datasets import load_digits

X = load_digits().data  # 1797 pictures of 8 × 8 pixels, one in each row
model = NMF(16, max_iter=500)
W = model.fit_transform(X)
parts = plot.parts(model, shape=(8, 8))

# %%
# ``W`` says how much of each part is in each digit; their products rebuild the pictures.

rebuilt = plot.reconstructions(X[:8], model.inverse_transform(W[:8]), (8, 8))
