"""Small valid data files of every format, and ways to damage them."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

#: Numbers to put where an index, a pointer or a side of a shape belongs.
HOSTILE = (
    -(2**63),
    -(2**31),
    -1000,
    -1,
    0,
    1,
    5,
    7,
    8,
    100,
    10**5,
    2**31 - 1,
    2**31,
    10**9,
    10**12,
    2**62,
    2**63 - 1,
)


def table(rng: random.Random) -> np.ndarray:
    """12 × 6 yes/no data or counts, so that every model can be fitted to them."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    highest = rng.choice([2, 2, 5])
    X = numbers.integers(0, highest, (12, 6)).astype(rng.choice(["f2", "f4", "f8", ">f8", "u1", "i4"]))
    X[0, 0] = 1
    return X


def _text(mark: str) -> Callable[[Path, random.Random], None]:
    def write(path: Path, rng: random.Random) -> None:
        lines = [mark.join(["name", *"abcdef", "label"])] if rng.random() < 0.7 else []
        for row, numbers in enumerate(table(rng).tolist()):
            lines.append(mark.join([f"r{row}", *map(str, numbers), "yes" if row % 2 else "no"]))
        _bytes(path, ("\n".join(lines) + "\n").encode())

    return write


def _bytes(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)


def _npy(path: Path, rng: random.Random) -> None:
    np.save(path, table(rng))


def _npz(path: Path, rng: random.Random) -> None:
    X, y = table(rng), np.arange(12) % 2
    kind = rng.choice(["dense", "csr", "csc", "coo", "bsr", "dia", "plain"])
    if kind == "dense":
        np.savez_compressed(path, X=X, y=y, names=np.array(list("abcdefghijkl")))
        return
    X = X.astype(X.dtype.newbyteorder("="))
    if kind == "bsr":
        parts = _parts(sp.bsr_array(X.astype(float), blocksize=(2, 3)))
    elif kind == "plain":
        parts = _parts(sp.csr_array(X.astype(float))) | {"vocab": np.array(list("abcdef"))}
        del parts["format"]
    else:
        parts = _parts(sp.coo_array(X.astype(float)).asformat(kind))
    np.savez_compressed(path, **parts, y=y)


def _parts(X: Any) -> dict[str, np.ndarray]:
    names = {"coo": ("row", "col"), "dia": ("offsets",)}.get(X.format, ("indices", "indptr"))
    parts = {name: getattr(X, name) for name in names}
    return {"format": np.array(X.format.encode()), "shape": np.array(X.shape), "data": X.data, **parts}


def _market(path: Path, rng: random.Random) -> None:
    from scipy.io import mmwrite

    X = table(rng).astype(float)
    stream = io.BytesIO()
    mmwrite(stream, sp.coo_array(X) if rng.random() < 0.7 else X)
    _bytes(path, stream.getvalue())


def _parquet(path: Path, rng: random.Random) -> None:
    import pandas as pd

    frame = pd.DataFrame(table(rng).astype(rng.choice(["f4", "f8", "i4"])), columns=list("abcdef"))
    frame["label"] = ["yes", "no"] * 6
    frame.to_parquet(path, compression=rng.choice(["snappy", "gzip", "zstd", None]))


def _h5ad(path: Path, rng: random.Random) -> None:
    import anndata
    import pandas as pd

    X = table(rng).astype(rng.choice(["f4", "f8"]))
    X = rng.choice([sp.csr_matrix, sp.csc_matrix, sp.csr_matrix, np.asarray])(X)
    obs = pd.DataFrame({"label": ["yes", "no"] * 6, "n": range(12)}, index=[f"r{i}" for i in range(12)])
    anndata.AnnData(X, obs, layers={"raw": X}).write_h5ad(path)


def _xlsx(path: Path, rng: random.Random) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["name", *"abcdef", "label"])
    for row, numbers in enumerate(table(rng).tolist()):
        book.active.append([f"r{row}", *numbers, "yes" if row % 2 else "no"])
    book.save(path)


def _sav(path: Path, rng: random.Random) -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(table(rng).astype(float), columns=list("abcdef"))
    pyreadstat.write_sav(frame.assign(label=["yes", "no"] * 6), str(path), row_compress=rng.random() < 0.5)


#: How a valid file of each format is written; of any other, the bytes of a .csv.
WRITERS: dict[str, Callable[[Path, random.Random], None]] = {
    ".csv": _text(","),
    ".csv.gz": _text(","),
    ".tsv": _text("\t"),
    ".tsv.gz": _text("\t"),
    ".txt": _text(" "),
    ".txt.gz": _text(" "),
    ".npy": _npy,
    ".npz": _npz,
    ".mtx": _market,
    ".mtx.gz": _market,
    ".parquet": _parquet,
    ".h5ad": _h5ad,
    ".xlsx": _xlsx,
    ".sav": _sav,
}


def damaged_file(suffix: str, seed: int, folder: Path, bomb: bool = False) -> Path:
    """Write a file of the format and damage it, or make it a bomb; one in twenty stays sound."""
    rng = random.Random(seed)
    path = folder / f"data{suffix}"
    try:
        WRITERS.get(suffix, WRITERS[".csv"])(path, rng)
    except ImportError:
        WRITERS[".csv"](path, rng)
    ways = [_any, _any, *([_inside_gzip] if suffix.endswith(".gz") else []), *_WAYS.get(suffix, [])]
    if bomb and suffix in BOMBS:
        BOMBS[suffix](path, rng)
    elif rng.random() > 0.05:
        rng.choice(ways)(path, rng)
    return path


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes with bits flipped, or a span cut off, deleted, repeated or overwritten."""
    out = bytearray(data)
    if not out:
        return b"\0"
    # Headers are short and say the most: half of the damage is done there.
    top = len(out) if rng.random() < 0.5 else min(len(out), 300)
    start = rng.randrange(top)
    stop = min(len(out), start + rng.choice([1, 2, 8, 40, 500]))
    way = rng.randrange(6)
    if way == 0:
        for _ in range(rng.choice([1, 1, 3, 20])):
            out[rng.randrange(top)] ^= 1 << rng.randrange(8)
    elif way == 1:
        del out[start:]
    elif way == 2:
        del out[start:stop]
    elif way == 3:
        out[start:start] = out[start:stop] * rng.choice([1, 5, 100])
    elif way == 4:
        out[start:stop] = rng.randbytes(stop - start)
    else:
        out[start:stop] = rng.choice([b"\0", b"\xff", b"9", b'"', b"-"]) * (stop - start)
    return bytes(out)


def _any(path: Path, rng: random.Random) -> None:
    path.write_bytes(damaged(path.read_bytes(), rng))


def _inside_gzip(path: Path, rng: random.Random) -> None:
    path.write_bytes(gzip.compress(damaged(gzip.decompress(path.read_bytes()), rng)))


def _member(path: Path, rng: random.Random) -> None:
    """Damage one array of an .npz, or one part of a workbook, in a sound archive."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    members[name] = damaged(members[name], rng)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def _forged_arrays(path: Path, rng: random.Random) -> None:
    """Hostile numbers in one or two arrays of an .npz, or arrays of another shape or type."""
    with np.load(path) as file:
        arrays = dict(file)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        arrays[name] = _forged(arrays[name], rng)
    np.savez_compressed(path, **arrays)


def _forged(array: np.ndarray, rng: random.Random) -> np.ndarray:
    way = rng.randrange(6)
    if way < 3 and array.size and array.dtype.kind in "iuf":
        array = array.copy().astype(rng.choice(["i8", array.dtype, array.dtype]))
        for _ in range(rng.choice([1, 1, 4])):
            value = rng.choice(HOSTILE)
            with np.errstate(all="ignore"):
                array.reshape(-1)[rng.randrange(array.size)] = np.array(value).astype(array.dtype)
        return array
    if way == 3:
        return array.reshape(-1)[: rng.randrange(array.size + 1)]
    if way == 4:
        return np.concatenate([array.reshape(-1)] * rng.choice([2, 50]))
    if array.ndim == 3:
        return array[:, :, :0]
    return (
        array.astype(rng.choice(["f2", "u1", "S3", "U2", "?", "c8"]))
        if array.dtype.kind in "iuf"
        else array[..., None]
    )


def _forged_h5ad(path: Path, rng: random.Random) -> None:
    """Hostile numbers in the parts of X, in its shape, in the codes of obs, or links to elsewhere."""
    import h5py

    with h5py.File(path, "r+") as file:
        X = file["X"]
        if isinstance(X, h5py.Dataset) or rng.random() < 0.15:
            place = rng.choice(["obs/n", "obs/label/codes", "obs/_index", "var/_index"])
            if place not in file:
                return
            attributes = dict(file[place].attrs)
            length = rng.choice([0, 5, 13, 10**6, 10**9])
            text = h5py.string_dtype() if "_index" in place else "i4"
            del file[place]
            made = file.create_dataset(
                place, shape=(length,), dtype=text, chunks=(min(length, 1000),) if length else None
            )
            made.attrs.update(attributes)
        elif rng.random() < 0.25:
            X.attrs["shape"] = [rng.choice([12, *HOSTILE]), rng.choice([6, *HOSTILE])]
        elif rng.random() < 0.1:
            del X["indices"]
            X["indices"] = h5py.ExternalLink("/dev/zero", "/") if rng.random() < 0.5 else h5py.SoftLink("/X")
        else:
            name = rng.choice(["indices", "indptr", "indices", "indptr", "data"])
            array = _forged(X[name][()], rng)
            array = array.astype("S") if array.dtype.kind == "U" else array
            del X[name]
            X[name] = array


def _bomb_h5ad(path: Path, rng: random.Random) -> None:
    import h5py

    with h5py.File(path, "r+") as file:
        place = rng.choice(["X", "uns/noise", "obs/n"])
        if place in file:
            del file[place]
        shape = (12, 10**8) if place == "X" else (10**9,)
        file.create_dataset(
            place, shape=shape, dtype="f8", chunks=(*(1 for _ in shape[1:]), 1000), fillvalue=1.0
        )


def _bomb_gzip(path: Path, rng: random.Random) -> None:
    line = rng.choice([b"1,1,1,1\n", b"\n", b"1,", b'"a\n",', b"1 1 1\n", b"%\n", b"\0"])
    begin = b"%%MatrixMarket matrix coordinate real general\n" if ".mtx" in path.name else b"a,b,c,d\n"
    path.write_bytes(gzip.compress(begin + line * (40 * 2**20 // len(line)), 1))


def _bomb_npz(path: Path, rng: random.Random) -> None:
    if rng.random() < 0.5:
        np.savez_compressed(path, X=np.zeros((10**6, 1)), **{f"y{i}": np.zeros(10**6) for i in range(5)})
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\x03" + b" " * (48 * 2**20))


_WAYS: dict[str, list[Callable[[Path, random.Random], None]]] = {
    ".xlsx": [_member, _member],
    ".npz": [_member, _forged_arrays, _forged_arrays, _forged_arrays],
    ".h5ad": [_forged_h5ad, _forged_h5ad, _forged_h5ad],
}
#: Files that unpack to more than the limit; they take long to make, so that only some attempts do.
BOMBS: dict[str, Callable[[Path, random.Random], None]] = {
    ".csv.gz": _bomb_gzip,
    ".txt.gz": _bomb_gzip,
    ".mtx.gz": _bomb_gzip,
    ".npz": _bomb_npz,
    ".h5ad": _bomb_h5ad,
}
