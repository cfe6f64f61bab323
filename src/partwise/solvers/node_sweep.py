"""Compiled sweeps for A ≈ W S Wᵀ: every entry of W, and every entry of S, moved to its best value in turn.

In one entry of W the squared error is a polynomial of degree four, whose least value on x ≥ 0 has a closed form
(Vandaele, Gillis, Lei, Zhong & Dhillon 2016). A node's row needs its edges alone, so a sweep costs one product A·W
and n k² more.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined, njit, piece


@njit(cache=True, nogil=True, error_model="numpy")
def least_quartic(rest: float, b: float, s: float, m: float, q: float, old: float) -> tuple[float, float]:
    """The x ≥ 0 that makes ½ (rest − b x − s x²)² + ½ m x² − q x least, and by how much it is below that of `old`."""
    # The coefficients of its derivative.
    c3, c2, c1, c0 = 2.0 * s * s, 3.0 * b * s, b * b - 2.0 * rest * s + m, -rest * b - q
    start = _quartic(rest, b, s, m, q, old)
    # Zero, one root, or the outer two of three (the inner one is a maximum).
    best, found = old, start
    first, second = 0.0, 0.0
    if c0 < 0.0 or c1 < 0.0:
        first, second = _outer_roots(c3, c2, c1, c0)
    for x in (0.0, first, second):
        if x >= 0.0:
            value = _quartic(rest, b, s, m, q, x)
            if value < found:
                best, found = x, value
    return best, start - found


@piece()
def _quartic(rest: float, b: float, s: float, m: float, q: float, x: float) -> float:
    left = rest - (b + s * x) * x
    return 0.5 * left * left + (0.5 * m * x - q) * x


@piece()
def _outer_roots(c3: float, c2: float, c1: float, c0: float) -> tuple[float, float]:
    """The largest and the smallest real root of a cubic, or of a line where c3 = 0; 0 where there is none."""
    if c3 == 0.0:
        root = -c0 / c1 if c1 > 0.0 else 0.0
        return root, root
    shift = c2 / (3.0 * c3)
    p = c1 / c3 - 3.0 * shift * shift
    r = 2.0 * shift**3 - shift * c1 / c3 + c0 / c3
    inside = 0.25 * r * r + p * p * p / 27.0
    if inside >= 0.0:
        far = np.sqrt(inside)
        # The cube root without cancellation first; the other follows from their product, −p / 3.
        one = np.cbrt(-0.5 * r - far) if r > 0.0 else np.cbrt(-0.5 * r + far)
        root = one - (p / (3.0 * one) if one != 0.0 else 0.0) - shift
        return root, root
    size = np.sqrt(-p / 3.0)
    angle = np.arccos(min(1.0, max(-1.0, -0.5 * r / size**3))) / 3.0
    # Angles between 0 and π / 3; a third of a turn further lies the smallest root.
    return 2.0 * size * np.cos(angle) - shift, 2.0 * size * np.cos(angle + 2.0 * np.pi / 3.0) - shift


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_undirected(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, G: np.ndarray, W: np.ndarray
) -> float:
    """Move every entry of W to its best value, node after node; by how much ½‖A − W Wᵀ‖² fell, A being symmetric.

    G is WᵀW, and is kept up to date: once for each node, whose own share w wᵀ is left out where it is read.
    """
    n, k = W.shape
    fell = 0.0
    out, w, before = np.empty(k), np.empty(k), np.empty(k)
    for i in range(n):
        rest = _neighbours(indptr, indices, data, W, i, out)
        # ‖w‖² leaves what is to be explained of the loop at i, and w·w̃ what G has of the node as it was, w̃.
        shared = 0.0
        for r in range(k):
            w[r] = W[i, r]
            before[r] = w[r]
            shared += w[r] * w[r]
        rest -= shared
        moved = False
        for r in range(k):
            own = max(G[r, r] - before[r] * before[r], 0.0)
            old = w[r]
            slope = 2.0 * (out[r] - (_dot(G[r], w) - before[r] * shared) + own * old)
            if old == 0.0 and slope <= 0.0 and 2.0 * (own - rest) >= 0.0:
                # The derivative at 0 and all behind it are positive: the entry stays there.
                continue
            rest += old * old
            x, gain = least_quartic(rest, 0.0, 1.0, 2.0 * own, slope, old)
            rest -= x * x
            shared += before[r] * (x - old)
            moved = moved or x != old
            w[r] = x
            fell += gain
        if not moved:
            continue
        for r in range(k):
            W[i, r] = w[r]
        for r in range(k):
            _replace_row(G[r], w[r], w, before[r], before)
    return fell


@inlined(fastmath={"contract", "nsz", "reassoc"})
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for t in range(a.shape[0]):
        total += a[t] * b[t]
    return total


@inlined(fastmath={"contract"})
def _replace_row(g: np.ndarray, new: float, w: np.ndarray, old: float, before: np.ndarray) -> None:
    for t in range(g.shape[0]):
        g[t] += new * w[t] - old * before[t]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_directed(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    in_indptr: np.ndarray,
    in_indices: np.ndarray,
    in_data: np.ndarray,
    S: np.ndarray,
    M: np.ndarray,
    W: np.ndarray,
) -> float:
    """Move every entry of W to its best value, node after node; by how much ½‖A − W S Wᵀ‖² fell.

    The first three arrays are A by rows, the next three Aᵀ. M is S G Sᵀ + Sᵀ G S with G = WᵀW, and is kept up to
    date.
    """
    n, k = W.shape
    fell = 0.0
    out, q, into, w = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    left, right = np.empty(k), np.empty(k)
    for i in range(n):
        w[:] = W[i]
        rest = _neighbours(indptr, indices, data, W, i, out)
        _neighbours(in_indptr, in_indices, in_data, W, i, into)
        for r in range(k):
            total = 0.0
            for t in range(k):
                total += S[r, t] * out[t] + S[t, r] * into[t]
            q[r] = total
        _images(S, w, left, right)
        for r in range(k):
            rest -= w[r] * left[r]
            for t in range(k):
                M[r, t] -= left[r] * left[t] + right[r] * right[t]
        for r in range(k):
            slope, b, s = q[r], 0.0, S[r, r]
            for t in range(k):
                slope -= M[r, t] * w[t]
                b += (S[r, t] + S[t, r]) * w[t]
            slope += M[r, r] * w[r]
            b -= 2.0 * s * w[r]
            old = w[r]
            rest += b * old + s * old * old
            x, gain = least_quartic(rest, b, s, max(M[r, r], 0.0), slope, old)
            rest -= b * x + s * x * x
            w[r] = x
            fell += gain
        W[i] = w
        _images(S, w, left, right)
        for r in range(k):
            for t in range(k):
                M[r, t] += left[r] * left[t] + right[r] * right[t]
    return fell


@piece()
def _neighbours(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, W: np.ndarray, i: int, out: np.ndarray
) -> float:
    """Row i of A·W without what i itself adds, into `out`; the weight of the loop at i."""
    loop = 0.0
    out[:] = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        j = np.uint64(indices[e])
        if j == np.uint64(i):
            loop += data[e]
            continue
        for r in range(len(out)):
            out[r] += data[e] * W[j, r]
    return loop


@njit(cache=True, nogil=True, error_model="numpy")
def _images(S: np.ndarray, w: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """S w and Sᵀ w."""
    for r in range(len(w)):
        left[r] = 0.0
        right[r] = 0.0
        for t in range(len(w)):
            left[r] += S[r, t] * w[t]
            right[r] += S[t, r] * w[t]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_links(C: np.ndarray, G: np.ndarray, S: np.ndarray) -> float:
    """Move every entry of S to its best value; by how much ½‖A − W S Wᵀ‖² fell. C = WᵀAW and G = WᵀW."""
    R = C - G @ S @ G
    fell = 0.0
    for r in range(len(G)):
        for t in range(len(G)):
            size = G[r, r] * G[t, t]
            if size <= 0.0:
                continue
            step = max(R[r, t] / size, -S[r, t])
            if step != 0.0:
                S[r, t] += step
                fell += step * R[r, t] - 0.5 * step * step * size
                for a in range(len(G)):
                    for c in range(len(G)):
                        R[a, c] -= step * G[a, r] * G[t, c]
    return fell
