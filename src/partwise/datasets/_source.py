"""Finding a data file: the user's folder, the cache, or a verified download."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from partwise.datasets._registry import REGISTRY, Entry

_SCHEMES = ("http", "https", "ftp")


@dataclass(frozen=True)
class Located:
    """A file on disk; ``upstream`` is True if it has the publisher's own format and not the registered one."""

    path: Path
    upstream: bool = False


def locate(name: str) -> Located:
    """Return where a registered file lies on disk, downloading it if need be.

    Parameters
    ----------
    name : str
        The name it is registered under.

    Returns
    -------
    Located
        Its path, and whether it has the publisher's own format.

    Raises
    ------
    FileNotFoundError
        If no source has the file; the message says what to do.
    """
    entry = REGISTRY[name]
    if folder := os.environ.get("PARTWISE_DATA"):
        return _from_folder(entry, Path(folder).expanduser())
    base = _base_url()
    stored = cache_folder() / entry.path
    if _matches(stored, f"sha256:{entry.sha256}"):
        return Located(stored)
    if entry.upstream is not None:
        original = cache_folder() / "upstream" / entry.upstream.filename
        if _matches(original, entry.upstream.known_hash):
            return Located(original, upstream=True)
    if base is not None:
        return Located(_download(entry, f"{base}/{entry.path}", f"sha256:{entry.sha256}", stored))
    if entry.upstream is not None:
        path = _download(entry, entry.upstream.url, entry.upstream.known_hash, original)
        return Located(path, upstream=True)
    if stored.is_file():
        raise FileNotFoundError(
            f"The cached file {stored} is damaged (its checksum is wrong) and no address is known to fetch "
            f"it anew. {_other_cache(stored)} {_how_to_provide(entry)}"
        )
    raise FileNotFoundError(
        f"The data file {entry.path} is neither in the cache ({cache_folder()}) nor at a public address. "
        f"{_how_to_provide(entry)}"
    )


def describe(name: str, title: str) -> str:
    """Return a short text for ``DESCR``: what the data are, where they come from, on what terms.

    Parameters
    ----------
    name : str
        The name that the file is registered under.
    title : str
        What the data are.

    Returns
    -------
    str
        Several lines.
    """
    entry = REGISTRY[name]
    return f"{title}\n\nSource: {entry.home}\nTerms: {entry.terms}\nFile: {entry.path}\n"


def cache_folder() -> Path:
    """Return the folder that keeps downloads."""
    import pooch

    chosen = os.environ.get("PARTWISE_CACHE")
    return Path(chosen).expanduser() if chosen else Path(pooch.os_cache("partwise"))


def _from_folder(entry: Entry, folder: Path) -> Located:
    """Return the user's own copy, warning when it is not the registered one."""
    path = folder / entry.path
    if not path.is_file():
        raise FileNotFoundError(
            f"PARTWISE_DATA is set to {folder}, but there is no file {entry.path} in it. Put the file there "
            f"(see {entry.home}), or unset PARTWISE_DATA to use the cache and downloads instead."
        )
    if not _matches(path, f"sha256:{entry.sha256}"):
        warnings.warn(
            f"{path} differs from the file this version of partwise knows (its checksum is not the "
            "registered one). It is read all the same; results may differ from published ones.",
            UserWarning,
            stacklevel=4,
        )
    return Located(path)


def _base_url() -> str | None:
    """Return the user's mirror without a trailing slash, or None when there is none."""
    base = os.environ.get("PARTWISE_DATA_URL")
    if not base:
        return None
    scheme = urlsplit(base).scheme
    if scheme not in _SCHEMES:
        raise ValueError(
            f"PARTWISE_DATA_URL must be an address starting with {', '.join(s + '://' for s in _SCHEMES)}, "
            f"but {base!r} was given. To read from a folder of this machine, set PARTWISE_DATA to it instead."
        )
    return base.rstrip("/")


def _matches(path: Path, known_hash: str) -> bool:
    """Return whether ``path`` is a file with the given checksum."""
    import pooch

    algorithm, _, digest = known_hash.partition(":")
    return path.is_file() and pooch.file_hash(str(path), alg=algorithm) == digest


def _download(entry: Entry, url: str, known_hash: str, target: Path) -> Path:
    """Fetch ``url`` into ``target``; a file with a wrong checksum is discarded with a ValueError."""
    import pooch

    stale = target.is_file()
    before = (
        f"The cached file {target} is damaged or of another version (its checksum is wrong). "
        if stale
        else ""
    )
    remedy = f"{_other_cache(target)} " if stale else ""
    try:
        got = pooch.retrieve(url, known_hash=known_hash, fname=target.name, path=target.parent)
    except OSError as error:
        raise FileNotFoundError(
            f"{before}The data file {entry.path} could not be downloaded from {url} ({error}). "
            f"{remedy}{_how_to_provide(entry)}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"{before}What {url} sent for {entry.path} is damaged, or differs from the file that this version of "
            f"partwise knows (its checksum is wrong). Try again later. {remedy}{_how_to_provide(entry)}"
        ) from error
    return Path(got)


def _other_cache(path: Path) -> str:
    return f"Remove {path}, or set PARTWISE_CACHE to another folder than {cache_folder()}."


def _how_to_provide(entry: Entry) -> str:
    return (
        f"The data are described at {entry.home}; set the environment variable PARTWISE_DATA to a folder "
        f"holding {entry.path}, or PARTWISE_DATA_URL to an address below which it lies."
    )
