"""Activations of networks: those of a forward pass written out, and the network left as it was."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline

from partwise.domains import activations, with_activations

FUNCTIONS = {
    "relu": lambda z: np.where(z > 0, z, 0),
    "tanh": np.tanh,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "identity": lambda z: z,
}


def trained(kind=MLPClassifier, classes=10, dtype=np.float64, n=200, **more):
    X, y = load_digits(return_X_y=True)
    X, y = (X[y < classes][:n] / 16).astype(dtype), y[y < classes][:n]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kind(hidden_layer_sizes=(12, 7), max_iter=20, random_state=0, **more).fit(X, y), X


@pytest.mark.parametrize("activation", FUNCTIONS)
def test_hidden_layers_are_those_of_a_forward_pass(activation):
    network, X = trained(activation=activation)
    found = activations(network, X, batch_size=37)
    A = X
    for i in range(2):
        A = FUNCTIONS[activation](A @ network.coefs_[i] + network.intercepts_[i])
        np.testing.assert_allclose(found[i], A, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(activations(network, X, i, batch_size=37), found[i])
    np.testing.assert_allclose(activations(network, X, -1), network.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(activations(network, X, "input"), X)


def test_the_output_is_the_models_own():
    network, X = trained(classes=2)
    np.testing.assert_allclose(activations(network, X, -1)[:, 0], network.predict_proba(X)[:, 1], rtol=1e-12)
    network, X = trained(MLPRegressor)
    np.testing.assert_allclose(activations(network, X, -1)[:, 0], network.predict(X), rtol=1e-12)


@pytest.mark.parametrize("layer", ["input", 0, 1, -1])
def test_a_layers_own_activations_put_back_change_nothing(layer):
    network, X = trained()
    A = activations(network, X, layer)
    np.testing.assert_allclose(
        with_activations(network, X, layer, A, batch_size=64), network.predict_proba(X), 1e-12
    )


def test_single_precision_and_sparse_rows():
    network, X = trained(dtype=np.float32)
    dense = activations(network, X)
    assert [A.dtype for A in dense] == [np.float32] * 3
    assert with_activations(network, X, 0, dense[0].astype(float)).dtype == np.float32
    for A, B in zip(dense, activations(network, sp.csc_matrix(X), batch_size=50)):
        assert isinstance(B, np.ndarray)
        np.testing.assert_allclose(A, B, rtol=1e-4, atol=1e-5)
    assert sp.issparse(activations(network, sp.csr_matrix(X), "input"))


def test_what_cannot_be_done_is_said():
    network, X = trained()
    for layer in ("relu", 3, -4, 1.0, True):
        with pytest.raises(
            ValueError, match=r"There is no layer .*'input', 0 \(12 units\), 1 \(7 units\), 2 or -1"
        ):
            activations(network, X, layer)
    with pytest.raises(NotFittedError):
        activations(MLPClassifier(), X, 0)
    with pytest.raises(ValueError, match="Of a pipeline give the last step"):
        activations(make_pipeline(network), X, 0)
    with pytest.raises(ValueError, match="64 features"):
        activations(network, X[:, :5], 0)
    with pytest.raises(ValueError, match="maps must be"):
        activations(network, X, 0, maps="sum")
    with pytest.raises(ValueError, match="batch_size must be"):
        activations(network, X, 0, batch_size=0)
    with pytest.raises(ValueError, match="Layer 0 has 12 units"):
        with_activations(network, X, 0, np.ones((200, 7)))
    with pytest.raises(ValueError, match="a row for each of the 200"):
        with_activations(network, X, 0, np.ones((20, 12)))


def test_torch_is_not_imported_for_perceptrons():
    code = (
        "import sys\n"
        "from sklearn.neural_network import MLPRegressor; import numpy as np\n"
        "from partwise.domains import activations\n"
        "X = np.eye(4); print(activations(MLPRegressor(max_iter=2).fit(X, X[0]), X, 0).shape, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "(4, 100) False", done.stderr


def test_the_function_is_not_hidden_by_a_module():
    import partwise.domains.networks

    assert callable(activations)
    assert callable(partwise.domains.activations)


# PyTorch


@pytest.fixture
def convnet():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    with torch.random.fork_rng():
        torch.manual_seed(0)
        body = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Dropout(0.5), nn.BatchNorm2d(3))
        network = nn.Sequential(body, nn.Flatten(), nn.Linear(3 * 36, 5), nn.ReLU(), nn.Linear(5, 2))
        body(torch.rand(50, 1, 8, 8))
    network[0][3].eval()  # a frozen part inside of a network in training mode
    return network


def test_a_modules_activations_are_those_of_a_forward_pass(convnet):
    import torch

    X = np.random.default_rng(0).random((23, 1, 8, 8)).astype(np.float32)
    modes = [module.training for module in convnet.modules()]
    before = {name: value.clone() for name, value in convnet.state_dict().items()}
    maps = activations(convnet, X, "0.1", batch_size=10)
    assert [module.training for module in convnet.modules()] == modes
    assert all(torch.equal(before[name], value) for name, value in convnet.state_dict().items())
    assert not any(module._forward_hooks for module in convnet.modules())
    kernel, offset = convnet[0][0].weight.detach().numpy()[:, 0], convnet[0][0].bias.detach().numpy()
    windows = np.lib.stride_tricks.sliding_window_view(X[:, 0], (3, 3), axis=(1, 2))
    truth = np.maximum(np.einsum("nyxab,cab->ncyx", windows, kernel) + offset[:, None, None], 0)
    assert maps.dtype == np.float32
    np.testing.assert_allclose(maps, truth.reshape(23, -1), rtol=1e-4, atol=1e-5)
    pooled = activations(convnet, torch.from_numpy(X), 1, maps="mean")
    np.testing.assert_allclose(pooled, truth.mean(axis=(2, 3)), rtol=1e-4, atol=1e-5)
    pooled = activations(convnet, X.astype(float), 1, maps="max")
    np.testing.assert_allclose(pooled, truth.max(axis=(2, 3)), rtol=1e-4, atol=1e-5)
    assert [A.shape[1] for A in activations(convnet, X)] == [108, 108, 108, 108, 108, 5, 5, 2]
    np.testing.assert_array_equal(activations(convnet, X, "input"), X.reshape(23, -1))


@pytest.mark.parametrize("layer", ["input", "0", 1, "3", -1])
def test_a_modules_own_activations_put_back_change_nothing(convnet, layer):
    import torch

    X = np.random.default_rng(0).random((23, 1, 8, 8)).astype(np.float32)
    A = activations(convnet, X, layer)
    found = with_activations(convnet, X, layer, A, batch_size=10)
    convnet.eval()
    np.testing.assert_allclose(found, convnet(torch.from_numpy(X)).detach().numpy(), rtol=1e-4, atol=1e-5)
    other = with_activations(convnet, X, layer, np.zeros_like(A))
    assert np.ptp(other, axis=0).max() == 0, "the rest of the network sees the given activations alone"


def test_what_cannot_be_seen_in_a_module_is_said(convnet):
    import torch

    X = np.zeros((4, 1, 8, 8), np.float32)
    with pytest.raises(ValueError, match=r"There is no layer 'relu'. .*'input', 0 '0.0', 1 '0.1'.*7 '4'"):
        activations(convnet, X, "relu")
    with pytest.raises(ValueError, match="Layer '3' has 5 units"):
        with_activations(convnet, X, "3", np.zeros((4, 6)))

    class Reused(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.relu, self.spare = torch.nn.ReLU(), torch.nn.ReLU()
            self.rnn = torch.nn.LSTM(8, 3)

        def forward(self, x):
            return self.rnn(self.relu(self.relu(x)))[0]

    with pytest.raises(ValueError, match="Layer 'relu' is called 2 times"):
        activations(Reused(), X[0], "relu")
    with pytest.raises(ValueError, match="Layer 'spare' is not called"):
        activations(Reused(), X[0], "spare")
    with pytest.raises(ValueError, match="Layer 'rnn' gives a tuple"):
        activations(Reused(), X[0], "rnn")


def test_half_precision_becomes_single(convnet):
    import torch

    X = np.random.default_rng(0).random((4, 1, 8, 8))
    assert activations(convnet.to(torch.bfloat16), X, -1).dtype == np.float32
    assert activations(convnet.double(), X, -1).dtype == np.float64
