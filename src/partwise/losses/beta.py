"""The β-divergences: Frobenius (β = 2), Kullback-Leibler (1), Itakura-Saito (0), any β.

Févotte & Idier (2011), equation 2: with x ≥ 0 the datum and y > 0 its reconstruction,

    d(x | y) = ½ (x − y)²                                              β = 2
             = x log(x / y) − x + y                                    β = 1
             = x / y − log(x / y) − 1                                  β = 0
             = [x^β + (β − 1) y^β − β x y^(β−1)] / (β (β − 1))         otherwise

Half the usual general form's scale at β = 2 is that form's own value, so the family is continuous in β. The
derivative is y^(β−1) − x y^(β−2): `push` less `pull`.
"""

from __future__ import annotations

from dataclasses import dataclass

from partwise.losses.base import Loss, ScalarFunctions, scalar, strict_scalar
from partwise.losses.logarithm import relative_kl

NAMES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


@strict_scalar
def _square(x: float, y: float, p: float) -> float:
    return 0.5 * (x - y) * (x - y)


@scalar
def _square_pull(x: float, y: float, p: float) -> float:
    return x


@scalar
def _square_push(one: float, y: float, p: float) -> float:
    return y


@strict_scalar
def _kl(x: float, y: float, p: float) -> float:
    if x <= 0.0:
        return y
    # Written around r = y/x − 1, which keeps full precision where x and y almost agree.
    return x * relative_kl(y / x - 1.0)


@scalar
def _kl_pull(x: float, y: float, p: float) -> float:
    return x / y


@scalar
def _kl_push(one: float, y: float, p: float) -> float:
    return one


@strict_scalar
def _is(x: float, y: float, p: float) -> float:
    return relative_kl(x / y - 1.0)


@scalar
def _is_pull(x: float, y: float, p: float) -> float:
    return x / (y * y)


@scalar
def _is_push(one: float, y: float, p: float) -> float:
    return one / y


@strict_scalar
def _beta(x: float, y: float, p: float) -> float:
    if x <= 0.0:
        # For β < 0 the divergence of zero is infinite; callers refuse such data.
        return y**p / p
    return (x**p + (p - 1.0) * y**p - p * x * y ** (p - 1.0)) / (p * (p - 1.0))


@scalar
def _beta_pull(x: float, y: float, p: float) -> float:
    return x * y ** (p - 2.0)


@scalar
def _beta_push(one: float, y: float, p: float) -> float:
    return y ** (p - 1.0)


_SPECIAL = {
    2.0: ScalarFunctions("frobenius", _square, _square_pull, _square_push),
    1.0: ScalarFunctions("kl", _kl, _kl_pull, _kl_push),
    0.0: ScalarFunctions("is", _is, _is_pull, _is_push),
}
_GENERAL = ScalarFunctions("beta", _beta, _beta_pull, _beta_push)
_NEWTON = {2.0: "quadratic", 1.0: "poisson"}


@dataclass(frozen=True)
class BetaDivergence(Loss):
    """D(X | Y) = Σ d_β(x_ij | y_ij).

    Parameters
    ----------
    beta : float
        2 is Frobenius, 1 Kullback-Leibler, 0 Itakura-Saito.
    """

    beta: float = 2.0

    def __post_init__(self) -> None:
        # The general form divides by β (β − 1) and loses all digits next to 0 and 1, where the family is
        # continuous: β that close is taken as 0, 1 or 2.
        nearest = min((0.0, 1.0, 2.0), key=lambda special: abs(self.beta - special))
        if abs(self.beta - nearest) < 1e-7:
            object.__setattr__(self, "beta", nearest)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name scikit-learn gives to this β, or ``beta=…``."""
        for name, beta in NAMES.items():
            if beta == self.beta:
                return name
        return f"beta={self.beta:g}"

    @property
    def functions(self) -> ScalarFunctions:
        """Those of the special β, or of the general form."""
        return _SPECIAL.get(self.beta, _GENERAL)

    @property
    def parameter(self) -> float:
        """β."""
        return self.beta

    @property
    def gram(self) -> bool:  # type: ignore[override]
        """β = 2."""
        return self.beta == 2.0

    @property
    def newton(self) -> str | None:  # type: ignore[override]
        """The step for β = 1 and β = 2."""
        return _NEWTON.get(self.beta)

    @property
    def flat(self) -> bool:  # type: ignore[override]
        """β = 1."""
        return self.beta == 1.0

    @property
    def likelihood(self) -> bool:  # type: ignore[override]
        """β = 1: Poisson."""
        return self.beta == 1.0

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """1 ≤ β ≤ 2."""
        return 1.0 <= self.beta <= 2.0

    @property
    def pole(self) -> bool:  # type: ignore[override]
        """β < 2."""
        return self.beta < 2.0

    @property
    def powers(self) -> tuple[float, float]:  # type: ignore[override]
        """Févotte & Idier (2011), table 1."""
        if self.beta < 1.0:
            return self.beta - 2.0, 0.0
        if self.beta <= 2.0:
            return self.beta - 2.0, self.beta - 1.0
        return 0.0, self.beta - 1.0

    @property
    def degree(self) -> float:  # type: ignore[override]
        """β."""
        return self.beta

    @property
    def needs_positive_data(self) -> bool:  # type: ignore[override]
        """Whether d(0 | y) is infinite: β ≤ 0."""
        return self.beta <= 0.0


FROBENIUS, KL = BetaDivergence(2.0), BetaDivergence(1.0)

__all__ = ["FROBENIUS", "KL", "NAMES", "BetaDivergence"]
