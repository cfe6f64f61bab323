"""Racers: one file each. A racer says why it cannot run, or is made from a start and then asked to advance."""

from partwise.bench.solvers import (
    gensim_online,
    nimfa_mu,
    nmf_torch_batch,
    partwise_auto,
    sklearn_cd,
    sklearn_mu,
    tensorly_hals,
    torchnmf_mu,
)

SOLVERS = {
    module.Racer.name: module.Racer
    for module in (
        partwise_auto,
        sklearn_cd,
        sklearn_mu,
        torchnmf_mu,
        nmf_torch_batch,
        tensorly_hals,
        nimfa_mu,
        gensim_online,
    )
}
