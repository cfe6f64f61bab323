"""Start from a singular value decomposition: NNDSVD of Boutsidis & Gallopoulos (2008) and its variants."""

from __future__ import annotations

import numpy as np

from partwise.initial.orthonormal import orthonormalise
from partwise.matrix import Matrix
from partwise.parallel import matmul

#: What zeros become in the variant "filled", as a share of the factor's mean. (The mean of X is in the units of W H:
#: in data a thousand times as large it is √1000 times as much of a factor, and fits begin, and may end, elsewhere.)
FILL = 0.3


def nndsvd(
    X: Matrix,
    n_components: int,
    variant: str,
    rng: np.random.Generator,
    svd: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Factors from the positive or negative part of each singular pair, whichever is larger.

    `variant` is "nndsvd" (zeros stay), "nndsvda" (zeros become the mean of X, as in scikit-learn), "nndsvdar" (zeros
    become random numbers a hundredth as large) or "filled" (zeros become a `FILL` of the factor's mean). `svd` is the
    decomposition, where it is known already.
    """
    U, S, Vt = truncated_svd(X, n_components, rng) if svd is None else svd
    root = 1.0 if X.row_weight is None else np.sqrt(X.row_weight)

    def length(a: np.ndarray) -> float:
        return float(np.linalg.norm(root * a))

    W = np.zeros_like(U)
    Ht = np.zeros_like(Vt.T)
    W[:, 0] = np.sqrt(S[0]) * np.abs(U[:, 0])
    Ht[:, 0] = np.sqrt(S[0]) * np.abs(Vt[0])
    for t in range(1, n_components):
        u, v = U[:, t], Vt[t]
        sides = [(np.maximum(s * u, 0), np.maximum(s * v, 0)) for s in (1.0, -1.0)]
        sizes = [length(a) * float(np.linalg.norm(b)) for a, b in sides]
        a, b = sides[int(sizes[1] > sizes[0])]
        size = max(sizes)
        if size > 0:
            scale = np.sqrt(S[t] * size)
            W[:, t] = scale * a / length(a)
            Ht[:, t] = scale * b / np.linalg.norm(b)
    for A, weight in ((W, X.row_weight), (Ht, None)):
        # Relative to the factor, so that data in other units start the same way.
        A[1e-6 * A.max() > A] = 0
        if variant == "filled":
            # A row of weight 2 counts as a row that occurs twice.
            A[A == 0] = FILL * float(np.average(A.mean(axis=1), weights=weight))
        elif variant == "nndsvda":
            A[A == 0] = X.mean()
        elif variant == "nndsvdar":
            A[A == 0] = X.mean() / 100 * np.abs(rng.standard_normal(int((A == 0).sum())))
    return W.astype(X.dtype), Ht.astype(X.dtype)


class _Completed:
    """X as a linear map, with what is missing filled in by (row mean × column mean / mean).

    With ω taken over the largest weight, X̃ = ω ∘ X + (1 − ω) ∘ r cᵀ, so X̃ B = u B + r (cᵀ B) − r ∘ ω (c ∘ B): sparse
    data are never made dense. Where X is `signed`, means may cancel, and what is missing gets column means.
    """

    def __init__(self, X: Matrix, signed: bool = False) -> None:
        self.X = X
        # A row of weight r is a row that occurs r times: as rows of √r it enters the singular values.
        self.root = None if X.row_weight is None else np.sqrt(X.row_weight).astype(X.dtype)[:, None]
        self.filled = X.weighted
        # Weights in other units start the same way.
        self.share = X.dtype.type(1.0 / X.largest_weight())
        if self.filled:
            ones_m, ones_n = np.ones((X.shape[1], 1), X.dtype), np.ones((X.shape[0], 1), X.dtype)
            mean = X.mean()

            def means(total: np.ndarray, seen: np.ndarray) -> np.ndarray:
                some = seen > 0
                return np.where(some, total / np.where(some, seen, 1), mean).astype(X.dtype)

            self.r = means(X.product(ones_m), X.weight_product(ones_m))
            # A row of weight 2 is that row twice in the means of columns, too.
            often = ones_n if self.root is None else np.asarray(X.row_weight, X.dtype)[:, None]
            self.c = means(X.transposed_product(often), X.transposed_weight_product(often))
            if signed:
                self.r = ones_n
            else:
                self.c /= mean if mean > 0 else 1.0

    def times(self, B: np.ndarray) -> np.ndarray:
        """X̃ · B, rows weighted."""
        out = self.plain_times(B)
        return out if self.root is None else self.root * out

    def plain_times(self, B: np.ndarray) -> np.ndarray:
        """X̃ · B."""
        out = self.X.product(B)
        if self.filled:
            out -= self.r * self.X.weight_product(self.c * B)
            out *= self.share
            out += self.r * (self.c.T @ B)
        return out

    def transposed_times(self, A: np.ndarray) -> np.ndarray:
        """X̃ᵀ · A, rows weighted."""
        A = A if self.root is None else self.root * A
        out = self.X.transposed_product(A)
        if self.filled:
            out -= self.c * self.X.transposed_weight_product(self.r * A)
            out *= self.share
            out += self.c * (self.r.T @ A)
        return out


def truncated_svd(
    X: Matrix,
    rank: int,
    rng: np.random.Generator,
    n_oversample: int = 10,
    n_power: int = 4,
    signed: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Randomized range finder with power iterations (Halko, Martinsson & Tropp 2011), by products alone.

    With row weights r, the decomposition of √r X, and U divided by √r; rows of weight 0 get X V / S.
    """
    data = _Completed(X, signed)
    Q = _range(data, min(rank + n_oversample, *X.shape), rng, n_power)
    V, R = orthonormalise(data.transposed_times(Q.astype(X.dtype)))
    turn, S, Qt = np.linalg.svd(R)
    V, S = matmul(V, turn[:, :rank]), S[:rank]
    U = matmul(Q, Qt.T[:, :rank])
    if data.root is not None:
        idle = data.root[:, 0] == 0
        U = U / np.where(idle, 1.0, data.root[:, 0])[:, None]
        if idle.any():
            projected = data.plain_times(V.astype(X.dtype)).astype(float)
            U[idle] = projected[idle] / np.maximum(S, 1e-12 * S[0])
    return U, S, V.T


def range_finder(X: Matrix, size: int, rng: np.random.Generator, n_power: int) -> np.ndarray:
    """An orthonormal n × size basis of nearly all that the columns of X span."""
    return _range(_Completed(X), size, rng, n_power)


def _range(data: _Completed, size: int, rng: np.random.Generator, n_power: int) -> np.ndarray:
    dtype = data.X.dtype
    Y = data.times(rng.standard_normal((data.X.shape[1], size)).astype(dtype))
    for _ in range(n_power):
        Q = orthonormalise(Y, exact=False)[0]
        Z = orthonormalise(data.transposed_times(Q), exact=False)[0]
        Y = data.times(Z)
    return orthonormalise(Y)[0]
