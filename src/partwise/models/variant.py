"""Models that are an NMF, and show only some of its parameters."""

from __future__ import annotations

from typing import Any

from partwise.models.nmf import NMF
from partwise.priors import Prior


class NMFVariant(NMF):
    """An `NMF` without penalties, priors and fixed components, which a variant of it does not offer."""

    alpha_W: float = 0.0
    alpha_H: float | str = 0.0
    l1_ratio: float = 0.0
    shuffle: bool = False
    prior_W: Prior | None = None
    prior_H: Prior | None = None
    fixed_components: Any = None
