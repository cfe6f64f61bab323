"""A few of the cases of `harness.py`, which has them all: a real Ctrl-C is heard, and what was found is kept."""

import os

import pytest
from interrupts.cases import VERBS
from interrupts.harness import Children, tried

#: Seconds within which the moments lie: the first of each case, so that the tests do not take long.
SECONDS = 0.8


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    children = Children(tmp_path_factory.mktemp("interrupts"), "warm")
    yield children
    children.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "name",
    [
        "NMF scd kullback-leibler",
        "BinaryNMF n_init=3",
        "BooleanMF 5",
        "SymmetricNMF n_init=3",
        "MixtureClassifier contrastive",
        "fit nmf",
        "reproduce bars",
    ],
)
def test_ctrl_c_at_random_moments_is_heard_and_loses_nothing(name, server, monkeypatch):
    # Other tests may keep the machine busy.
    monkeypatch.setattr("interrupts.harness.HEARD", 5.0)
    if name in VERBS:
        # Compiles what has to be.
        assert server.attempt(name, None).code == 0
    server.seconds[name] = SECONDS
    seen = tried([server], name, moments=2, seed=0)
    assert (seen["tries"], seen["failures"]) == (2, 0)
