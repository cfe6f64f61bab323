"""Racers: one file each. A racer says why it cannot run, or is made from a start and then asked to advance."""

from partwise.bench.solvers import ours, sklearn_cd, sklearn_mu, tensorly_hals, torchnmf_mu

SOLVERS = {
    module.Racer.name: module.Racer for module in (ours, sklearn_cd, sklearn_mu, torchnmf_mu, tensorly_hals)
}
