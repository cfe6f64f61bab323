"""
How sure are we of each part?
=============================

The posterior of a factorization gives every entry of a part an interval. More data make intervals narrower.
"""

import numpy as np

from partwise import BayesianNMF, plot

rng = np.random.default_rng(0)
place = np.arange(24)
truth = np.exp(-0.5 * ((place - np.array([[6], [16]])) / 3.0) ** 2)  # two bumps
fits = {}
for n in (15, 150):
    X = rng.exponential(size=(n, 2)) @ truth + 0.25 * rng.standard_normal((n, 24))
    fits[n] = BayesianNMF(2, n_draws=300, n_warmup=200, random_state=0).fit(X)

# %%
# The mean of each part, and two standard deviations to either side.

drawing, axes = plot.figure([["15", "150"]], size=(9.0, 3.2), sharey=True)
for n, model in fits.items():
    for t, (mean, deviation) in enumerate(zip(model.components_, model.components_std_)):
        low, high, colour = mean - 2 * deviation, mean + 2 * deviation, plot.SERIES[t]
        axes[str(n)].fill_between(place, low, high, alpha=0.3, lw=0, color=colour)
        axes[str(n)].plot(place, mean, label=f"part {t}", color=colour)
    axes[str(n)].set_title(f"{n} samples", loc="left", fontsize=11)
    axes[str(n)].set_xlabel("feature")
axes["15"].set_ylabel("weight")
axes["150"].legend()
