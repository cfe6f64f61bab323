"""Programs that use scikit-learn's NMF, run with it and with partwise in its place: are the parts the same?

    make clients

Prints a line for each and ends with exit code 1 if any part differs. The programs are installed from their package
index into an environment of their own; where one cannot be installed it is left out, with a line that says so.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import io
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.decomposition
from scipy.optimize import linear_sum_assignment

import partwise

#: Correlation above which two parts count as the same, and share of top words that two topics must have in common.
SAME, SHARED = 0.99, 0.9


class Outcome(NamedTuple):
    """What a client shows: what was compared, the figures in words, and whether the parts are the same."""

    compared: str
    figures: str
    same: bool


def matched(ours: Any, theirs: Any) -> np.ndarray:
    """Correlations of rows of two tables, each row with one of the other's, for the largest sum."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    table = np.corrcoef(ours, theirs)[: len(ours), len(ours) :]
    return table[linear_sum_assignment(-table)]


def planted_counts(n_cells: int = 400, n_genes: int = 600, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Counts of cells that mix programmes, and the programmes: each has 60 genes that the others hardly use."""
    rng = np.random.default_rng(0)
    programmes = rng.gamma(0.5, 1.0, (k, n_genes)) * 0.3
    for i, genes in enumerate(np.array_split(rng.permutation(n_genes)[: 60 * k], k)):
        programmes[i, genes] += rng.gamma(4.0, 1.0, genes.size)
    programmes /= programmes.sum(axis=1, keepdims=True)
    usage = rng.dirichlet(np.full(k, 0.3), n_cells) * rng.lognormal(8.5, 0.3, (n_cells, 1))
    return rng.poisson(usage @ programmes), programmes


def cnmf() -> Outcome:
    """Consensus programmes of cNMF (Kotliar et al. 2019), with the function that it calls exchanged."""
    import anndata
    import pandas as pd

    module = importlib.import_module("cnmf.cnmf")
    counts, planted = planted_counts()
    genes = [f"gene{i}" for i in range(counts.shape[1])]
    cells = [f"cell{i}" for i in range(counts.shape[0])]

    def programmes(function: Callable[..., Any], loss: str, folder: Path) -> pd.DataFrame:
        module.non_negative_factorization = function
        file = folder / "counts.h5ad"
        anndata.AnnData(
            counts.astype(float), obs=pd.DataFrame(index=cells), var=pd.DataFrame(index=genes)
        ).write_h5ad(file)
        run = module.cNMF(output_dir=str(folder), name="run")
        k = len(planted)
        run.prepare(str(file), components=[k], n_iter=20, seed=1, num_highvar_genes=400, beta_loss=loss)
        run.factorize(worker_i=0, total_workers=1)
        run.combine()
        run.consensus(k, density_threshold=0.5, show_clustering=False)
        spectra = run.load_results(K=k, density_threshold=0.5)[2]  # genes x programmes, in TPM
        return spectra.T[genes]

    lines, same = [], True
    for loss in ("frobenius", "kullback-leibler"):
        found = []
        for library in (partwise, sklearn.decomposition):
            with tempfile.TemporaryDirectory() as folder:
                found.append(programmes(library.non_negative_factorization, loss, Path(folder)))
        alike = matched(*found).min()
        ours, theirs = (matched(one, planted).min() for one in found)
        same = same and bool(alike > SAME and ours > SAME)
        lines.append(
            f"{loss}: correlation ≥ {alike:.4f}, with the planted ≥ {ours:.4f} (scikit-learn: {theirs:.4f})"
        )
    return Outcome(f"{len(planted)} consensus programmes of 20 runs", "; ".join(lines), same)


def docstrings() -> list[str]:
    """A corpus that is always there: the docstrings of SciPy's functions."""
    texts = {}
    names = (
        "cluster",
        "fft",
        "integrate",
        "interpolate",
        "linalg",
        "ndimage",
        "optimize",
        "signal",
        "sparse",
    )
    for name in (*names, "spatial", "special", "stats"):
        module = importlib.import_module(f"scipy.{name}")
        for public in module.__all__:
            text = getattr(getattr(module, public), "__doc__", None) or ""
            if len(text) > 400:
                texts[text] = None
    return list(texts)


def topics() -> Outcome:
    """scikit-learn's example "Topic extraction with Non-negative Matrix Factorization", on docstrings."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = docstrings()
    vectorizer = TfidfVectorizer(
        max_df=0.95, min_df=2, max_features=1000, stop_words="english", token_pattern=r"[a-z]{3,}"
    )
    X = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    lines, worst = [], 1.0
    for more in (
        {"beta_loss": "frobenius"},
        {"beta_loss": "kullback-leibler", "solver": "mu", "max_iter": 1000},
    ):
        settings = dict(n_components=10, random_state=1, alpha_W=0.00005, alpha_H=0.00005, l1_ratio=1, **more)
        settings["init"] = "nndsvda"
        ours, theirs = (
            library.NMF(**settings).fit(X).components_ for library in (partwise, sklearn.decomposition)
        )
        tops = [[set(words[np.argsort(-row)[:20]]) for row in parts] for parts in (ours, theirs)]
        common = np.array([[len(one & other) / 20 for other in tops[1]] for one in tops[0]])
        common = common[linear_sum_assignment(-common)]
        worst = min(worst, common.min())
        lines.append(
            f"{more['beta_loss']}: {common.mean():.0%} of the 20 top words, worst topic {common.min():.0%}"
        )
    return Outcome(f"10 topics of {len(texts)} docstrings", "; ".join(lines), worst >= SHARED)


def scanpy() -> Outcome:
    """A workflow of scanpy's users: factors in `obsm`, neighbours and clusters from them; real blood cells."""
    import scanpy as sc
    from sklearn.metrics import adjusted_rand_score

    data = sc.datasets.pbmc68k_reduced().raw.to_adata()
    data.obs_names_make_unique()
    parts, clusters = [], []
    for library, given in ((partwise, data), (sklearn.decomposition, data.X)):
        model = library.NMF(n_components=10, init="nndsvda", max_iter=1000, random_state=0)
        W = np.asarray(model.fit_transform(given))
        data.obsm["X_nmf"] = W / np.linalg.norm(W, axis=0)
        sc.pp.neighbors(data, use_rep="X_nmf", random_state=0)
        sc.tl.leiden(data, flavor="igraph", n_iterations=2, directed=False, random_state=0)
        parts.append(model.components_)
        clusters.append(data.obs["leiden"].to_numpy())
    each = matched(*parts)
    known = [adjusted_rand_score(data.obs["bulk_labels"], found) for found in clusters]
    alike = adjusted_rand_score(*clusters)
    return Outcome(
        f"10 programmes and Leiden clusters of {data.n_obs} cells",
        f"correlation ≥ {each.min():.4f}; clusters alike {alike:.2f}; with the known types {known[0]:.2f} "
        f"(scikit-learn: {known[1]:.2f}; adjusted Rand index)",
        bool(each.min() > SAME),
    )


#: Client, the package it needs, and what is run.
CLIENTS: dict[str, tuple[str, Callable[[], Outcome]]] = {
    "cNMF": ("cnmf", cnmf),
    "scikit-learn's topics": ("sklearn", topics),
    "scanpy": ("scanpy", scanpy),
}


def main(names: list[str]) -> int:
    """Run the named clients, or all; 1 if any part differs."""
    failures = 0
    for name in names or CLIENTS:
        package, run = CLIENTS[name]
        try:
            version = importlib.metadata.version({"sklearn": "scikit-learn"}.get(package, package))
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: left out, for {package} is not installed here", flush=True)
            continue
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            outcome = run()
        failures += not outcome.same
        verdict = "same" if outcome.same else "DIFFERENT"
        print(f"{name} {version} | {outcome.compared} | {verdict} | {outcome.figures}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
