"""A short Geweke test of the samplers of Boolean factors; `make calibration` runs the long one."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.samplers.calibration import corrected, joint_pvalues, make_case, simulated_ranks


@pytest.mark.parametrize("name", ["boolean_gibbs", "relaxed_gibbs", "relaxed_gibbs_beta"])
def test_a_chain_of_parameters_and_data_has_the_prior(name):
    assert corrected(joint_pvalues(make_case(name), 1500, np.random.default_rng(0))) > 1e-3


@pytest.mark.parametrize("name", ["boolean_gibbs", "relaxed_gibbs"])
def test_ranks_are_known_for_every_quantity(name):
    case = make_case(name)
    ranks = simulated_ranks(case, 2, 3, np.random.default_rng(0))
    problem, state = case.simulate(np.random.default_rng(0))
    assert set(ranks) == set(case.quantities(problem, state))
    assert all(0 <= rank <= 3 for values in ranks.values() for rank in values)
