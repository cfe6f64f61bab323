"""Networks seen through their layers: what each layer gives for the rows of X, and what comes of other activations.

scikit-learn's perceptrons are computed from their weights, PyTorch modules by hooks on their submodules. PyTorch is
optional and never imported here: whoever has a module has the package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import scipy.special

#: The activation functions of scikit-learn's perceptrons, by the names that their parameters and attributes have.
_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "logistic": scipy.special.expit,
    "softmax": lambda z: scipy.special.softmax(z, axis=1),
    "exp": np.exp,
}


def activations(
    model: Any, X: Any, layer: int | str | None = None, *, maps: str = "flat", batch_size: int = 1000
) -> Any:
    """What a layer of a network gives for each row of X, as a matrix that can be factorized.

    Parameters
    ----------
    model : MLPClassifier, MLPRegressor or torch.nn.Module
        A trained network. It is not changed: a module runs in evaluation mode and without gradients, and every
        submodule is put back into the mode that it was in.
    X : array, sparse matrix or torch.Tensor of shape (n_samples, …)
        What the network takes.
    layer : int, str or None
        A number, from 0 and with negative numbers from the end, or "input" for X itself. In scikit-learn's networks
        0 is the first hidden layer and -1 the output. In a module the submodules that have none of their own are
        counted, in the order in which they were registered, and any submodule can be named as ``named_modules`` does.
        None is the list of all numbered layers.
    maps : {"flat", "mean", "max"}
        What becomes of layers with more than two axes, as the feature maps (sample, channel, row, column) of a
        convolution: rows of all values, or one value for each channel, its mean or its maximum over the other axes.
    batch_size : int
        Rows that go through the network together.

    Returns
    -------
    array of shape (n_samples, n_units), or a list of these
        float32 where X is (where a module computes in it), else float64.

    See Also
    --------
    with_activations : What the network makes of other activations.

    Notes
    -----
    A ReLU gives nothing below 0, so that NMF takes it as it is. In a module that is the output of the ``nn.ReLU``,
    not of the layer before it; a function that is no submodule (``F.relu``) cannot be seen.

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> from partwise import NMF
    >>> from partwise.datasets import load_digits
    >>> from partwise.domains import activations
    >>> X, y = load_digits().data[:300] / 16, load_digits().target[:300]
    >>> network = MLPClassifier((30, 20), max_iter=500, random_state=0).fit(X, y)
    >>> [A.shape for A in activations(network, X)]
    [(300, 30), (300, 20), (300, 10)]
    >>> NMF(5).fit_transform(activations(network, X, layer=1)).shape
    (300, 5)
    """
    if maps not in ("flat", "mean", "max"):
        raise ValueError(f"maps must be 'flat', 'mean' or 'max'; got {maps!r}.")
    batches = _batches(X, batch_size)
    if _is_module(model):
        return _of_module(model, X, layer, maps, batches)
    X = _rows(model, X)
    last = len(model.coefs_) - 1
    if layer == "input":
        return X
    wanted = range(last + 1) if layer is None else [_numbered(layer, last + 1, _mlp_layers(model))]
    found = [np.empty((X.shape[0], model.coefs_[number].shape[1]), X.dtype) for number in wanted]
    for rows in batches:
        for number, A in _forward(model, X[rows], 0, wanted[-1]):
            if number in wanted:
                found[wanted.index(number)][rows] = A
    return found if layer is None else found[0]


def with_activations(model: Any, X: Any, layer: int | str, A: Any, *, batch_size: int = 1000) -> np.ndarray:
    """The output of a network in which one layer gives A in place of its own activations.

    Parameters
    ----------
    model : MLPClassifier, MLPRegressor or torch.nn.Module
        A trained network; it is not changed.
    X : array, sparse matrix or torch.Tensor of shape (n_samples, …)
        What the network takes. Layers after the given one see it only where the network has a way around that layer.
    layer : int or str
        As in `activations`.
    A : array of shape (n_samples, n_units)
        As `activations` returns it with ``maps="flat"``, for instance rebuilt from parts: W @ H.
    batch_size : int
        Rows that go through the network together.

    Returns
    -------
    array of shape (n_samples, …)
        The output: of a classifier of scikit-learn its probabilities (of the second class alone where there are
        two), of a module what its ``forward`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPRegressor
    >>> from partwise.domains import activations, with_activations
    >>> X = np.random.default_rng(0).random((40, 3))
    >>> network = MLPRegressor(hidden_layer_sizes=(8,), max_iter=2000, random_state=0).fit(X, X.sum(axis=1))
    >>> same = with_activations(network, X, 0, activations(network, X, 0))
    >>> bool(np.allclose(same.ravel(), network.predict(X)))
    True
    """
    batches = _batches(X, batch_size)
    A = np.asarray(A)
    if len(A) != X.shape[0]:
        raise ValueError(f"A must have a row for each of the {X.shape[0]} rows of X; it has {len(A)}.")
    if _is_module(model):
        return _module_with(model, X, layer, A, batches)
    X = _rows(model, X)
    layers = _mlp_layers(model)
    number = -1 if layer == "input" else _numbered(layer, len(layers) - 1, layers)
    width = model.coefs_[0].shape[0] if number < 0 else model.coefs_[number].shape[1]
    if A.shape[1:] != (width,):
        raise ValueError(f"Layer {layer!r} has {width} units; A has shape {A.shape}.")
    A, last = A.astype(X.dtype, copy=False), len(model.coefs_) - 1
    if number == last:
        return A
    parts = [list(_forward(model, A[rows], number + 1, last))[-1][1] for rows in batches]
    return np.concatenate(parts)


def _batches(X: Any, batch_size: int) -> list[slice]:
    if not hasattr(X, "shape"):
        raise ValueError(f"X must be an array, a sparse matrix or a tensor; got {type(X).__name__}.")
    if not batch_size >= 1:
        raise ValueError(f"batch_size must be at least 1; got {batch_size}.")
    return [slice(start, start + batch_size) for start in range(0, X.shape[0], batch_size)]


def _numbered(layer: Any, count: int, known: list[str]) -> int:
    """The place of a layer that is given by number, or a sentence with the layers that there are."""
    if isinstance(layer, int | np.integer) and not isinstance(layer, bool) and -count <= layer < count:
        return int(layer) % count
    raise ValueError(f"There is no layer {layer!r}. The layers are: {', '.join(known)}.")


# scikit-learn's perceptrons


def _rows(model: Any, X: Any) -> Any:
    """X as the network takes it, or a sentence where the network is none of scikit-learn's or is not fitted."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.utils.validation import check_is_fitted, validate_data

    if not isinstance(model, MLPClassifier | MLPRegressor):
        raise ValueError(
            "activations are known of MLPClassifier, MLPRegressor and torch.nn.Module; got "
            f"{type(model).__name__}. Of a pipeline give the last step, and X as the steps before it make it."
        )
    check_is_fitted(model, "coefs_")
    return validate_data(model, X, accept_sparse="csr", reset=False, dtype=[np.float64, np.float32])


def _mlp_layers(model: Any) -> list[str]:
    """Each layer of a perceptron in words, for messages."""
    widths = [coefficients.shape[1] for coefficients in model.coefs_]
    hidden = [f"{i} ({width} units)" for i, width in enumerate(widths[:-1])]
    return ["'input'", *hidden, f"{len(widths) - 1} or -1 (the output)"]


def _forward(model: Any, A: Any, first: int, last: int) -> Iterator[tuple[int, np.ndarray]]:
    """The activations of the layers `first` to `last`, one after the other, given those before them."""
    for number in range(first, last + 1):
        weights, offsets = (
            part[number].astype(A.dtype, copy=False) for part in (model.coefs_, model.intercepts_)
        )
        output = number == len(model.coefs_) - 1
        A = _FUNCTIONS[model.out_activation_ if output else model.activation](A @ weights + offsets)
        yield number, A


# PyTorch's modules


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _of_module(model: Any, X: Any, layer: int | str | None, maps: str, batches: list[slice]) -> Any:
    if layer == "input":
        return _as_matrix(_tensor(model, X), maps)
    names = _leaves(model) if layer is None else [_named(model, layer)]
    found: list[Any] = [None] * len(names)
    for rows in batches:
        seen: list[list[Any]] = [[] for _ in names]
        with _hooked(model, {name: seen[i].append for i, name in enumerate(names)}):
            model(_tensor(model, X[rows]))
        for i, name in enumerate(names):
            A = _as_matrix(_only(seen[i], name), maps)
            if found[i] is None:
                found[i] = np.empty((X.shape[0], A.shape[1]), A.dtype)
            found[i][rows] = A
    return found if layer is None else found[0]


def _module_with(model: Any, X: Any, layer: int | str, A: np.ndarray, batches: list[slice]) -> np.ndarray:
    if layer == "input":
        X = A.reshape(tuple(X.shape))
    name = None if layer == "input" else _named(model, layer)
    parts = []
    for rows in batches:
        seen: list[Any] = []

        def replaced(own: Any, rows: slice = rows, seen: list[Any] = seen) -> Any:
            seen.append(own)
            if own[0].numel() != A[0].size:
                raise ValueError(f"Layer {layer!r} has {own[0].numel()} units; A has shape {A.shape}.")
            return own.new_tensor(A[rows]).reshape(own.shape)

        with _hooked(model, {} if name is None else {name: replaced}):
            output = model(_tensor(model, X[rows]))
        if name is not None:
            _only(seen, name)
        parts.append(_to_numpy(_only([output], "the output")))
    return np.concatenate(parts)


@contextmanager
def _hooked(model: Any, calls: dict[str, Callable[[Any], Any]]) -> Iterator[None]:
    """A forward pass in evaluation mode, in which each named submodule hands its output to a function.

    What the function returns, if anything, takes the place of the output. Modes are put back one by one, for parts of
    a network may be frozen.
    """
    with ExitStack() as undo:
        for name, call in calls.items():
            hook = model.get_submodule(name).register_forward_hook(lambda _m, _in, out, call=call: call(out))
            undo.callback(hook.remove)
        for module in model.modules():
            undo.callback(setattr, module, "training", module.training)
        model.eval()
        with sys.modules["torch"].no_grad():
            yield


def _leaves(model: Any) -> list[str]:
    return [name for name, module in model.named_modules() if name and not any(module.children())]


def _named(model: Any, layer: Any) -> str:
    """The name of a submodule that is given by name or by number among those that have no submodules."""
    if isinstance(layer, str) and layer and layer in dict(model.named_modules()):
        return layer
    leaves = _leaves(model)
    known = [f"{i} {name!r}" for i, name in enumerate(leaves)]
    return leaves[_numbered(layer, len(leaves), ["'input'", *known])]


def _only(seen: list[Any], name: str) -> Any:
    """The one tensor that a submodule gave in a forward pass."""
    if len(seen) != 1:
        times = f"is called {len(seen)} times" if seen else "is not called"
        raise ValueError(f"Layer {name!r} {times} in a forward pass; choose one that is called once.")
    if not hasattr(seen[0], "detach"):
        raise ValueError(f"Layer {name!r} gives a {type(seen[0]).__name__}; choose one that gives a tensor.")
    return seen[0]


def _tensor(model: Any, X: Any) -> Any:
    """Rows as a tensor where the network's parameters are; numbers with a fraction in their precision."""
    torch = sys.modules["torch"]
    X = torch.as_tensor(X)
    like = next((p for p in model.parameters() if p.is_floating_point()), X)
    return X.to(like.device, like.dtype if X.is_floating_point() else X.dtype)


def _as_matrix(A: Any, maps: str) -> np.ndarray:
    if maps != "flat" and A.ndim > 2:
        A = A.flatten(2)
        A = A.mean(2) if maps == "mean" else A.amax(2)
    return _to_numpy(A.reshape(len(A), -1))


def _to_numpy(A: Any) -> np.ndarray:
    """A tensor as an array; half precisions become float32, for NumPy lacks one of them and NMF both."""
    A = A.detach().cpu()
    return np.asarray(A.float().numpy() if A.is_floating_point() and A.itemsize < 4 else A.numpy())
