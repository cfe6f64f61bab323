"""Run scikit-learn's own NMF tests against partwise.NMF (`make sklearn-tests`).

The names that those tests import are replaced before pytest collects them; nothing of scikit-learn is copied.
What is left out, and why, is listed in EXCLUDED.
"""

from __future__ import annotations

import sys

import pytest
import sklearn.decomposition

import partwise

#: Test (or part of its name) → why it does not concern partwise.NMF.
EXCLUDED = {
    "MiniBatchNMF": "parametrized over scikit-learn's MiniBatchNMF, which partwise does not replace",
    "minibatch": "a test of MiniBatchNMF",
    "mbnmf": "a test of MiniBatchNMF",
    "test_initialize_": "tests the private function _initialize_nmf",
    "test_beta_divergence": "tests the private function _beta_divergence",
    "test_special_sparse_dot": "tests the private function _special_sparse_dot",
    "test_nmf_underflow": "tests the private function _beta_divergence",
}


class Replace:
    """Pytest plugin: deselect what is excluded, and say so."""

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Drop the excluded tests."""
        kept = [item for item in items if not any(word in item.name for word in EXCLUDED)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    def pytest_report_header(self) -> list[str]:
        """List the exclusions."""
        return ["left out:", *(f"  {name}: {why}" for name, why in EXCLUDED.items())]


def main() -> int:
    """Replace the names, then run."""
    sklearn.decomposition.NMF = partwise.NMF
    sklearn.decomposition.non_negative_factorization = partwise.non_negative_factorization
    arguments = ["--pyargs", "sklearn.decomposition.tests.test_nmf", "-c", "/dev/null", "--rootdir", "."]
    arguments += ["-q", "--disable-warnings", "-p", "no:cacheprovider"]
    return int(pytest.main([*arguments, *sys.argv[1:]], plugins=[Replace()]))


if __name__ == "__main__":
    sys.exit(main())
