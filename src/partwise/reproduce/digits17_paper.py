"""Ones and sevens with the settings of Yus López (2015, section 4.2): figures 4.8 and 4.9, and what they show.

W starts uniform between 0 and 1, π uniform; 60 steps of equation 3.8 with Poisson noise on W but for the last ten;
states of up to γ parts, γ + 1 in the denominator, and no correction or widening of π, since 2^16 states are too many
here. γ and the noise are not stated there: γ = 2 and 0.02 are taken. Images are scaled to a largest pixel of 10 and
rounded, since the model is one of counts; Yus López (2015) does not say whether it rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from partwise.comparison import hoyer
from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, learn
from partwise.latent.inference import Inference
from partwise.matrix import Dense
from partwise.models import NMF
from partwise.plot import draw_curve, draw_parts, figure

STEPS, QUIET, NOISE = 60, 10, 0.02
#: Added to every rate where held-out images are judged: ink where no training image had any must cost, not kill.
FLOOR = 1e-3


@dataclass(frozen=True)
class Learned:
    """Parts by one method.

    Attributes
    ----------
    name : str
        The method.
    parts : array of shape (H, n_pixels)
        Components.
    active : float
        Parts that are on in an image, on average.
    held_out : float
        Log-likelihood of a held-out image, on average.
    trace : array
        Log-likelihood of the training images by step, per image; empty where there is none.
    """

    name: str
    parts: np.ndarray
    active: float
    held_out: float
    trace: np.ndarray


def published(train: np.ndarray, test: np.ndarray, n_components: int, gamma: int, seed: int) -> Learned:
    """Binary NMF as Yus López (2015) runs it."""
    rng = np.random.default_rng(seed)
    inference = Inference(False, gamma, "all")
    method = ExpectationMaximization(
        inference,
        update="least-squares",
        correct=False,
        perturb=(NOISE,) * (STEPS - QUIET),
        max_iter=STEPS,
        tol=0.0,
    )
    start = method.init(rng.random((n_components, train.shape[1])), np.full(n_components, rng.random()))
    found = learn(Counts(Dense.of(train)), method, start, rng)
    judged = Counts(Dense.of(test), FLOOR)
    stats = inference(judged, found.W, found.activation)
    held_out = float((stats.evidence - judged.log_factorials).mean())
    trace = np.array(found.history["log_likelihood"]) / len(train)
    return Learned("binary, published", found.W, float(stats.best.sum(axis=1).mean()), held_out, trace)


def poisson_mixture(
    train: np.ndarray, test: np.ndarray, n_components: int, seed: int, steps: int = 40
) -> Learned:
    """A mixture of Poisson images by EM: exactly one part is on."""
    rng = np.random.default_rng(seed)
    rates = train[rng.choice(len(train), n_components, replace=False)] + train.mean(axis=0) + FLOOR
    weights = np.full(n_components, 1.0 / n_components)

    def joint(X: np.ndarray) -> np.ndarray:
        return np.asarray(X @ np.log(rates).T - rates.sum(axis=1) + np.log(weights))

    for _ in range(steps):
        log_joint = joint(train)
        share = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
        weights = np.maximum(share.mean(axis=0), 1e-12)
        rates = share.T @ train / np.maximum(share.sum(axis=0), 1e-12)[:, None] + FLOOR
    held_out = logsumexp(joint(test), axis=1) - gammaln(test + 1.0).sum(axis=1)
    return Learned("Poisson mixture", rates, 1.0, float(held_out.mean()), np.zeros(0))


def kl_nmf(train: np.ndarray, test: np.ndarray, n_components: int, seed: int) -> Learned:
    """NMF of the same number of parts; parts have strengths, which are fitted to each held-out image."""
    model = NMF(
        n_components, beta_loss="kullback-leibler", init="random", max_iter=STEPS, tol=0, random_state=seed
    ).fit(train)
    usage = np.asarray(model.transform(test))
    rates = usage @ model.components_ + FLOOR
    held_out = (test * np.log(rates) - rates - gammaln(test + 1.0)).sum(axis=1).mean()
    level = (usage**2).sum(axis=0) / np.maximum(usage.sum(axis=0), 1e-300)
    active = float((usage > 0.5 * level).sum(axis=1).mean())
    return Learned("KL-NMF", np.asarray(model.components_), active, float(held_out), np.zeros(0))


def independent_pixels(train: np.ndarray, test: np.ndarray) -> float:
    """Log-likelihood of a held-out image under the mean image."""
    rate = train.mean(axis=0) + FLOOR
    return float((test * np.log(rate) - rate - gammaln(test + 1.0)).sum(axis=1).mean())


def wholeness(parts: np.ndarray, images: np.ndarray) -> float:
    """Cosine of each part with the image most like it, mean over parts: near 1 where parts are whole digits."""
    unit = parts / np.maximum(np.linalg.norm(parts, axis=1, keepdims=True), 1e-300)
    other = images / np.maximum(np.linalg.norm(images, axis=1, keepdims=True), 1e-300)
    return float((unit @ other.T).max(axis=1).mean())


def described(found: Learned, train: np.ndarray) -> dict[str, Any]:
    """What is measured of one method, as plain data."""
    return {
        "method": found.name,
        "n_components": len(found.parts),
        "sparseness": float(np.nanmean(hoyer(found.parts))),
        "wholeness": wholeness(found.parts, train),
        "active": found.active,
        "held_out": found.held_out,
    }


def paper_page(
    images: np.ndarray, learned: list[Learned], rows: list[dict[str, Any]], shape: tuple[int, int]
) -> Any:
    """Figures 4.8 and 4.9, the parts of the baselines, and parts that are on against H."""
    mosaic = [["data", "binary", "mixture"], ["nmf", "trace", "active"]]
    drawing, axes = figure(mosaic, size=(13.0, 8.5))
    draw_parts(axes["data"], images[:16], shape, "images (4.8)")
    for name, one in zip(("binary", "mixture", "nmf"), learned):
        more = " (4.9)" if name == "binary" else ""
        draw_parts(axes[name], one.parts, shape, f"{one.name}{more}")
    trace = learned[0].trace
    draw_curve(axes["trace"], np.arange(len(trace)), trace, title="log-likelihood per image", xlabel="step")
    published_rows = [row for row in rows if row["method"] == learned[0].name]
    sizes = [row["n_components"] for row in published_rows]
    curves = {
        "active": "parts on in an image",
        "sparseness": "sparseness of parts",
        "wholeness": "cosine with an image",
    }
    for colour, (key, label) in enumerate(curves.items()):
        draw_curve(
            axes["active"],
            sizes,
            [row[key] for row in published_rows],
            label=label,
            colour=colour,
            marker="o",
            title="binary, published, against H",
            xlabel="H",
        )
    axes["active"].set_ylim(0.0, None)
    axes["active"].legend()
    return drawing
