"""nmf-torch in batch mode: HALS for the Frobenius norm, multiplicative updates for Kullback-Leibler; dense."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer


class Racer(BaseRacer):
    """Its model is set up by its own code, then given the common start; it writes X ≈ H W."""

    name: ClassVar[str] = "nmf-torch"
    single_steps: ClassVar[bool] = True

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """It must be installed; dense."""
        if importlib.util.find_spec("nmf") is None or importlib.util.find_spec("torch") is None:
            return "not installed"
        return "takes dense data only" if hasattr(X, "tocsr") else None

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        import torch
        from nmf.nmf_models._nmf_batch_base import NMFBatchBase
        from nmf.nmf_models._nmf_batch_hals import NMFBatchHALS
        from nmf.nmf_models._nmf_batch_mu import NMFBatchMU

        Model = NMFBatchHALS if beta == 2.0 else NMFBatchMU
        self.model = Model(
            n_components=W.shape[1],
            init="random",
            beta_loss=beta,
            tol=0.0,
            random_state=0,
            alpha_W=0.0,
            l1_ratio_W=0.0,
            alpha_H=0.0,
            l1_ratio_H=0.0,
            fp_precision="float" if X.dtype == np.float32 else "double",
            device_type="cpu",
        )
        NMFBatchBase.fit(self.model, X)
        self.model.H, self.model.W = torch.tensor(W), torch.tensor(np.ascontiguousarray(H))
        if beta == 2.0:
            self.model._WWT = self.model.W @ self.model.W.T
            self.model._HTH = self.model.H.T @ self.model.H
            self.model._XWT = self.model.X @ self.model.W.T

    def advance(self, iterations: int) -> None:
        """The body of its loop; its convergence test, every tenth time, is left out in its favour."""
        for _ in range(iterations):
            self.model._update_H()
            self.model._update_W()

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Its H and W, which are W and H here."""
        return self.model.H.numpy(), self.model.W.numpy()
