"""Where data files come from, in what order, and what is said when they come from nowhere."""

from __future__ import annotations

import hashlib
import re
import warnings
from pathlib import Path

import pytest

from partwise.datasets import fetch_orl
from partwise.datasets._registry import REGISTRY, Entry, Upstream
from partwise.datasets._source import cache_folder, describe, locate

CONTENT = b"the registered file"
SHA = hashlib.sha256(CONTENT).hexdigest()
ORIGINAL = b"the publisher's own file"
ORIGINAL_MD5 = hashlib.md5(ORIGINAL).hexdigest()


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Entry:
    entry = Entry("toys/toy.npz", SHA, "https://example.org/toys", "CC0")
    monkeypatch.setitem(REGISTRY, "toy", entry)
    return entry


def write(folder: Path, path: str, content: bytes) -> Path:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def test_the_users_folder_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path, toy: Entry
) -> None:
    write(cache, toy.path, CONTENT)
    own = write(tmp_path / "mine", toy.path, CONTENT)
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path / "mine"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert locate("toy").path == own


def test_a_foreign_file_in_the_users_folder_only_warns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy: Entry
) -> None:
    own = write(tmp_path, toy.path, b"my own version")
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    with pytest.warns(UserWarning, match="differs from the file this version of partwise knows"):
        assert locate("toy").path == own


def test_a_gap_in_the_users_folder_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path, toy: Entry
) -> None:
    write(cache, toy.path, CONTENT)
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"no file toys/toy\.npz in it.*unset PARTWISE_DATA"
    ) as caught:
        locate("toy")
    assert str(tmp_path) in str(caught.value)


def test_a_good_cached_file_needs_no_address(cache: Path, toy: Entry) -> None:
    kept = write(cache, toy.path, CONTENT)
    found = locate("toy")
    assert (found.path, found.upstream) == (kept, False)


def test_a_download_is_cached_and_then_used_offline(
    monkeypatch: pytest.MonkeyPatch, cache: Path, toy: Entry, served: tuple[Path, str]
) -> None:
    folder, address = served
    published = write(folder, toy.path, CONTENT)
    monkeypatch.setenv("PARTWISE_DATA_URL", address + "/")
    found = locate("toy")
    assert found.path == cache / toy.path
    assert found.path.read_bytes() == CONTENT
    published.unlink()
    assert locate("toy") == found


def test_a_damaged_cached_file_is_fetched_anew(
    monkeypatch: pytest.MonkeyPatch, cache: Path, toy: Entry, served: tuple[Path, str]
) -> None:
    folder, address = served
    write(folder, toy.path, CONTENT)
    write(cache, toy.path, b"half a fi")
    monkeypatch.setenv("PARTWISE_DATA_URL", address)
    assert locate("toy").path.read_bytes() == CONTENT


def test_a_damaged_cached_file_without_an_address_is_an_error(cache: Path, toy: Entry) -> None:
    write(cache, toy.path, b"half a fi")
    with pytest.raises(FileNotFoundError, match=r"file .*toy.* is damaged.*PARTWISE_CACHE"):
        locate("toy")


def test_a_download_with_a_wrong_checksum_is_refused(
    monkeypatch: pytest.MonkeyPatch, cache: Path, toy: Entry, served: tuple[Path, str]
) -> None:
    folder, address = served
    write(folder, toy.path, b"something else")
    monkeypatch.setenv("PARTWISE_DATA_URL", address)
    with pytest.raises(ValueError, match="differs from the file that this version"):
        locate("toy")
    assert not (cache / toy.path).exists()


def test_a_failed_download_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, cache: Path, toy: Entry, served: tuple[Path, str]
) -> None:
    monkeypatch.setenv("PARTWISE_DATA_URL", served[1])
    with pytest.raises(FileNotFoundError, match=r"could not be downloaded from .*PARTWISE_DATA to a folder"):
        locate("toy")


def test_a_stale_cached_file_is_named_where_it_cannot_be_fetched_anew(
    monkeypatch: pytest.MonkeyPatch, cache: Path, toy: Entry, served: tuple[Path, str]
) -> None:
    stale = write(cache, toy.path, b"half a fi")
    monkeypatch.setenv("PARTWISE_DATA_URL", served[1])
    with pytest.raises(
        FileNotFoundError, match=r"is damaged .*could not be downloaded.*PARTWISE_CACHE"
    ) as caught:
        locate("toy")
    assert str(stale) in str(caught.value)


def test_the_publishers_file_is_taken_when_there_is_no_mirror(
    monkeypatch: pytest.MonkeyPatch, cache: Path, served: tuple[Path, str]
) -> None:
    folder, address = served
    published = write(folder, "original.zip", ORIGINAL)
    upstream = Upstream(f"{address}/original.zip", f"md5:{ORIGINAL_MD5}", "original.zip")
    monkeypatch.setitem(REGISTRY, "toy", Entry("toys/toy.npz", SHA, "https://example.org", "CC0", upstream))
    found = locate("toy")
    assert found.upstream
    assert found.path.read_bytes() == ORIGINAL
    published.unlink()
    assert locate("toy") == found
    write(cache, "toys/toy.npz", CONTENT)
    assert not locate("toy").upstream


def test_no_source_at_all_says_what_to_do(cache: Path, toy: Entry) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        locate("toy")
    message = str(caught.value)
    for part in ("toys/toy.npz", "https://example.org/toys", "PARTWISE_DATA", str(cache)):
        assert part in message


def test_a_fetcher_passes_the_sentence_on(cache: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"faces/orl\.npz"):
        fetch_orl()


@pytest.mark.parametrize("address", ["file:///somewhere", "somewhere"])
def test_a_folder_is_no_address(
    monkeypatch: pytest.MonkeyPatch, cache: Path, toy: Entry, address: str
) -> None:
    monkeypatch.setenv("PARTWISE_DATA_URL", address)
    with pytest.raises(ValueError, match="set PARTWISE_DATA to it instead"):
        locate("toy")


def test_the_cache_is_the_users_own_unless_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PARTWISE_CACHE", raising=False)
    assert "partwise" in str(cache_folder())
    monkeypatch.setenv("PARTWISE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_the_registry_is_complete(name: str) -> None:
    entry = REGISTRY[name]
    assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
    assert not entry.path.startswith("/")
    assert entry.home.startswith("http")
    assert entry.terms
    assert entry.home in describe(name, "Title")
    if entry.upstream is not None:
        assert entry.upstream.url.startswith("https://")
        assert re.fullmatch(r"sha256:[0-9a-f]{64}", entry.upstream.known_hash)
