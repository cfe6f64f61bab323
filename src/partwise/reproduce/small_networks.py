"""Two small networks that tell digits apart: a perceptron of scikit-learn and, with PyTorch, a ConvNet."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier


@dataclass(frozen=True)
class Network:
    """A trained network and how it is called.

    Attributes
    ----------
    name : str
        "MLP" or "ConvNet".
    model : MLPClassifier or torch.nn.Module
        The network.
    layers : dict
        What `partwise.domains.activations` takes, by the name that pictures and tables show.
    take : callable
        Flat images as the network takes them.
    """

    name: str
    model: Any
    layers: dict[str, int | str]
    take: Callable[[np.ndarray], np.ndarray]


def perceptron(X: np.ndarray, y: np.ndarray, epochs: int, seed: int) -> Network:
    """A perceptron with three layers of ReLUs, by Adam."""
    widths = (128, 64, 32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is given
        model = MLPClassifier(widths, max_iter=epochs, random_state=seed).fit(X, y)
    layers: dict[str, int | str] = {f"layer {i + 1}: {width} units": i for i, width in enumerate(widths)}
    return Network("MLP", model, {"pixels": "input", **layers}, lambda images: images)


def has_torch() -> bool:
    """Whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def convnet(X: np.ndarray, y: np.ndarray, epochs: int, seed: int) -> Network:
    """Two convolutions of 3 × 3 with stride 2 and a layer of 64 units, ReLUs after each, by Adam."""
    import torch
    from torch import nn

    side = round(np.sqrt(X.shape[1]))
    half, quarter = -(-side // 2), -(-side // 4)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * quarter**2, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )
        images, labels = torch.from_numpy(X).reshape(-1, 1, side, side), torch.from_numpy(y)
        optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
        for _ in range(epochs):
            for rows in torch.randperm(len(images)).split(64):
                optimiser.zero_grad()
                nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
                optimiser.step()
    layers: dict[str, int | str] = {
        "pixels": "input",
        f"convolution 1: 16 maps of {half} × {half}": "1",
        f"convolution 2: 32 maps of {quarter} × {quarter}": "3",
        "layer 3: 64 units": "6",
    }
    return Network("ConvNet", model, layers, lambda images: images.reshape(-1, 1, side, side))
