"""torchnmf's multiplicative updates."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer


class Racer(BaseRacer):
    """`torchnmf.nmf.NMF`; it writes Xᵀ's factors as H (n × k) and W (m × k)."""

    name: ClassVar[str] = "torchnmf"

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """It must be installed."""
        return "not installed" if importlib.util.find_spec("torchnmf") is None else None

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        import torch
        from torchnmf.nmf import NMF

        self.beta = beta
        if hasattr(X, "tocsr"):
            entries = X.tocoo()
            places = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
            self.X = torch.sparse_coo_tensor(places, torch.from_numpy(entries.data), entries.shape).coalesce()
        else:
            self.X = torch.from_numpy(X)
        self.model = NMF(W=torch.from_numpy(np.ascontiguousarray(H.T)), H=torch.from_numpy(W.copy()))

    def advance(self, iterations: int) -> None:
        """Its own loop."""
        self.model.fit(self.X, beta=self.beta, tol=float("-inf"), max_iter=iterations)

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Its H and Wᵀ, which are W and H here."""
        return self.model.H.detach().numpy(), self.model.W.detach().numpy().T
