"""The docstrings of scipy: the same every time, labelled, and about what their submodules are about."""

import numpy as np

from partwise.datasets import fetch, load_docstrings


def test_docstrings_are_labelled_texts_in_one_order():
    docs, again = load_docstrings(), fetch("docstrings")
    assert docs.data == again.data
    assert docs.names == again.names
    assert len(docs.data) == len(docs.names) == len(docs.target) > 800
    assert len(set(docs.data)) == len(docs.data)
    assert all(isinstance(text, str) and len(text.split()) >= 30 for text in docs.data)
    labels = docs.target_names[docs.target]
    assert all(name.startswith(f"{label}.") for name, label in zip(docs.names, labels))
    assert set(docs.target.tolist()) == set(range(len(docs.target_names)))
    assert (np.diff(docs.target) >= 0).all()
    assert "Fourier" in docs.data[docs.names.index("fft.fft")]
    assert "scipy" in docs.DESCR
