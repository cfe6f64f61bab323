"""Checkpoints: what a fit has done so far, in a folder, so that a later call goes on from there.

A folder holds `fit.json`, which says what was being fitted to which data, and one .npz file for each run or stage of
the fit. All are written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from partwise.compiling import clock

FORMAT = {"format": "partwise-checkpoint", "version": 1}
#: Seconds between two saves of a run; a save must not cost more than the work it protects.
INTERVAL = 10.0
#: Parameters that may differ between the call that wrote a checkpoint and the one that goes on from it.
FREE_PARAMETERS = ("max_iter", "max_time", "verbose", "callbacks")


class Checkpoint:
    """A folder that the runs of one fit save their states in.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    interval : float
        Seconds between two saves of a run; 0 saves every step.
    """

    def __init__(self, folder: str | os.PathLike[str], interval: float = INTERVAL) -> None:
        self.folder = Path(folder)
        self.interval = interval
        self._last_save = clock()
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"checkpoint must be a folder; {folder} is a file.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=self.folder).close()
        except OSError as error:
            raise ValueError(
                f"checkpoint must be a folder that can be written to; {folder}: {error.strerror or error}."
            ) from error

    def claim(self, model: str, parameters: dict[str, Any], data: dict[str, Any]) -> None:
        """Take the folder for this fit, or make sure that what it holds belongs to the same one.

        Parameters
        ----------
        model : str
            Class name of the model.
        parameters : dict
            Its parameters; those of `FREE_PARAMETERS` are not compared.
        data : dict
            What identifies the data: shape, digest of the contents.

        Raises
        ------
        ValueError
            If the folder holds a checkpoint of another model, other parameters or other data; the message names the
            difference.
        """
        asked = {
            **FORMAT,
            "model": model,
            "parameters": {
                name: described(value) for name, value in parameters.items() if name not in FREE_PARAMETERS
            },
            "data": {name: described(value) for name, value in data.items()},
        }
        file = self.folder / "fit.json"
        if not file.exists() and _create(file, json.dumps(asked, indent=1).encode()):
            return
        difference = first_difference(_read_head(file), asked)
        if difference is not None:
            raise ValueError(
                f"The checkpoint in {self.folder} is of another fit: {difference}. Give the data and parameters that "
                "it was made with, or another folder."
            )

    def due(self) -> bool:
        """Whether the interval since the last save has passed.

        Returns
        -------
        bool
            True when it is time to save again.
        """
        return clock() - self._last_save >= self.interval

    def save(self, name: str, packed: dict[str, Any], rng: np.random.Generator | None = None) -> None:
        """Write arrays and plain values under a name, with the place of the generator in its stream.

        A disk that is full by now is worth a warning: what the fit finds is worth more than its checkpoint.

        Parameters
        ----------
        name : str
            Name of the run or stage.
        packed : dict
            Arrays, and values that JSON can hold.
        rng : Generator, optional
            Generator whose state is saved too.
        """
        from partwise.io.atomic import atomic_file
        from partwise.io.errors import DataError

        head: dict[str, Any] = {**FORMAT, "values": {}, "rng": None}
        if rng is not None:
            head["rng"] = rng.bit_generator.state
        arrays = {}
        for key, value in packed.items():
            if isinstance(value, np.ndarray):
                arrays[f"array_{key}"] = value
            else:
                head["values"][key] = value
        text = np.frombuffer(json.dumps(head, default=_plain).encode(), dtype=np.uint8)
        try:
            with atomic_file(self._file(name)) as stream:
                np.savez(stream, head=text, **arrays)  # type: ignore[arg-type]
        except DataError as error:
            warnings.warn(f"The fit goes on without saving its state: {error}", UserWarning, stacklevel=2)
        self._last_save = clock()

    def load(self, name: str, rng: np.random.Generator | None = None) -> dict[str, Any] | None:
        """What `save` wrote under this name.

        Parameters
        ----------
        name : str
            Name of the run or stage.
        rng : Generator, optional
            Set to the state it had when it was saved.

        Returns
        -------
        dict or None
            Arrays and values; None if nothing was saved.

        Raises
        ------
        ValueError
            If the file is damaged, or was written by another version.
        """
        file = self._file(name)
        if not file.exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as held:
                head = json.loads(bytes(held["head"]))
                packed = {key[6:]: held[key] for key in held.files if key.startswith("array_")}
        except Exception as error:  # a damaged .npz raises many kinds
            raise ValueError(
                f"{file} is not a readable checkpoint: {error}. Delete it to start anew."
            ) from error
        if any(head.get(key) != value for key, value in FORMAT.items()):
            raise ValueError(
                f"{file} is not a checkpoint that this version can read. Delete it to start anew."
            )
        if rng is not None and head["rng"] is not None:
            rng.bit_generator.state = head["rng"]
        return {**packed, **head["values"]}

    def _file(self, name: str) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.npz"


def _create(file: Path, data: bytes) -> bool:
    """Write a file that is not there yet, whole; False if another process was faster."""
    from partwise.io.atomic import write_bytes_atomic

    own = file.with_name(f"{file.name}.{os.getpid()}")
    write_bytes_atomic(own, data)
    try:
        os.link(own, file)  # unlike a rename, it never replaces what is there
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        os.replace(own, file)
    finally:
        own.unlink(missing_ok=True)
    return True


def _read_head(file: Path) -> dict[str, Any]:
    try:
        head = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} is not a readable checkpoint: {error}. Give another folder.") from error
    if not isinstance(head, dict) or any(head.get(key) != value for key, value in FORMAT.items()):
        raise ValueError(f"{file} is not a checkpoint that this version can read. Give another folder.")
    return head


def first_difference(saved: dict[str, Any], asked: dict[str, Any]) -> str | None:
    """In words, the first thing in which two descriptions of a fit differ; None if they agree."""
    if saved.get("model") != asked["model"]:
        return f"it was made by {saved.get('model')}, this is {asked['model']}"
    for group, word in (("parameters", ""), ("data", "the data's ")):
        before = saved.get(group) or {}
        for name in sorted({*before, *asked[group]}):
            was, now = before.get(name), asked[group].get(name)
            if was != now:
                return f"{word}{name} was {was} and is now {now}"
    return None


def described(value: Any) -> str:
    """A parameter as text that differs where the value differs; arrays by their shape and digest."""
    if isinstance(value, np.ndarray) or hasattr(value, "tocsr"):
        return f"array {np.shape(value)} {digest(value)}"
    if isinstance(value, np.random.Generator):
        # Its children are numbered: a generator that has spawned some gives others the next time.
        spawned = getattr(value.bit_generator.seed_seq, "n_children_spawned", 0)
        return f"generator {digest(json.dumps(value.bit_generator.state, default=_plain))}, {spawned} spawned"
    return repr(value)


def digest(*parts: Any) -> str:
    """A short hash of arrays, sparse matrices and texts.

    Parameters
    ----------
    *parts : array, sparse matrix or object
        What is hashed, in order; other objects by their text.

    Returns
    -------
    str
        24 hexadecimal digits.
    """
    made = hashlib.blake2b(digest_size=12)
    for part in parts:
        if hasattr(part, "tocsr"):
            part = part.tocsr()
            made.update(digest(part.indptr, part.indices, part.data).encode())
        elif isinstance(part, np.ndarray):
            made.update(f"{part.shape}{part.dtype.str}".encode())
            made.update(np.ascontiguousarray(part).data)
        else:
            made.update(str(part).encode())
    return made.hexdigest()


def _plain(value: Any) -> Any:
    """Numpy numbers, as JSON knows them."""
    return value.tolist()
