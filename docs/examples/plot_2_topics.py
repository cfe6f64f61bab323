"""
Topics of texts
===============

The docstrings of scipy's signal, sparse, stats and fft modules. The model sees the texts, not the modules.
"""

import numpy as np

from partwise import TopicModel, plot
from partwise.datasets import load_docstrings

docs = load_docstrings()
wanted = [
    i for i, name in enumerate(docs.names) if name.split(".")[0] in ("signal", "sparse", "stats", "fft")
]
texts = [docs.data[i] for i in wanted]
model = TopicModel(6)
W = model.fit_transform(texts)
topics = plot.topics(model, W, row_names=[docs.names[i] for i in wanted])

# %%
# Which topic leads in the docstrings of each module?

shares = model.mixtures(W)
module = np.array([docs.names[i].split(".")[0] for i in wanted])
for name in np.unique(module):
    lead = np.bincount(shares[module == name].argmax(axis=1), minlength=6).argmax()
    print(f"{name:7}", ", ".join(word for word, _ in list(model.topics(6).values())[lead]))
