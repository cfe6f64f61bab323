"""
Gaps filled in
==============

A third of the pixels is hidden. They are left out of the fit, and the fit fills them in.
"""

import numpy as np

from partwise import NMF, plot
from partwise.datasets import load_digits

X = load_digits().data
hidden = np.random.default_rng(0).random(X.shape) < 1 / 3
seen = np.where(hidden, np.nan, X)
model = NMF(16, alpha_W=0.02, max_iter=300)
filled = model.inverse_transform(model.fit_transform(seen))
error = np.linalg.norm((filled - X)[hidden]) / np.linalg.norm(X[hidden])
means = np.linalg.norm((np.broadcast_to(np.nanmean(seen, axis=0), X.shape) - X)[hidden]) / np.linalg.norm(
    X[hidden]
)
print(f"error of the hidden pixels {error:.2f}; by the means of columns {means:.2f}")

# %%
# What was seen, and what the parts make of it.

pairs = plot.reconstructions(np.where(hidden, 0, X)[:8], filled[:8], (8, 8))
