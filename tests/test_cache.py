"""Results kept on disk: what is kept comes back, and nothing that goes wrong breaks the work."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from superpac import cache as cache_module
from superpac.cache import DEFAULT_LIMIT, DiskCache
from superpac.errors import InputError

SIZED = np.zeros(25_000)  # 200 kB


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path / "results")


def files(cache: DiskCache) -> list[Path]:
    assert cache.folder is not None
    return sorted(cache.folder.iterdir())


def never() -> dict:
    raise AssertionError("made again although it was kept")


PLAIN = st.sampled_from(["<f8", ">f8", "<f4", "<i8", "<i4", "|u1", "|b1", "<U3"])
ARRAYS = hnp.arrays(PLAIN, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=3,
)


@given(key=st.text(), values=st.dictionaries(st.text(), ARRAYS | JSON, max_size=4))
def test_what_is_kept_comes_back(key, values):
    with tempfile.TemporaryDirectory() as folder:
        cache = DiskCache(folder)
        cache.put(key, values)
        found = cache.get(key)
    assert found is not None
    assert list(found) == list(values)
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            assert found[name].dtype == value.dtype
            np.testing.assert_array_equal(found[name], value)
        else:
            assert found[name] == value


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_sparse_matrices_come_back_bit_for_bit(rows, columns, seed):
    dense = np.random.default_rng(seed).standard_normal((rows, columns))
    matrix = sparse.csr_array(np.where(dense > 0, dense, 0.0))
    with tempfile.TemporaryDirectory() as folder:
        cache = DiskCache(folder)
        cache.put("k", {"matrix": matrix})
        found = cache.sparse("k", never)
    assert isinstance(found, sparse.csr_array)
    assert found.shape == matrix.shape
    for part in ("data", "indices", "indptr"):
        ours, theirs = getattr(found, part), getattr(matrix, part)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_made_once(cache):
    made = []

    def make():
        made.append(1)
        return {"x": np.arange(3)}

    first, second = cache.get_or_make("k", make), cache.get_or_make("k", make)
    assert len(made) == 1
    np.testing.assert_array_equal(first["x"], second["x"])
    assert cache.get("another") is None


def test_arrays_of_objects_are_refused(cache):
    with pytest.raises(TypeError, match="Python objects"):
        cache.put("k", {"x": np.array([{}])})


def test_only_the_owner_may_read(cache):
    cache.put("k", {"x": SIZED})
    assert cache.folder is not None
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(cache)] == [0o600]


@pytest.mark.parametrize("setting", ["", "off", "OFF"])
def test_switched_off(monkeypatch, setting):
    monkeypatch.setenv("SUPERPAC_CACHE", setting)
    cache = DiskCache()
    cache.put("k", {"x": SIZED})
    assert cache.folder is None
    assert cache.get("k") is None
    assert cache.get_or_make("k", lambda: {"x": 1}) == {"x": 1}


def test_settings(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPERPAC_CACHE", str(tmp_path))
    for text, size in [
        ("1000", 1000),
        ("1.5 MB", 1_500_000),
        ("2g", 2 * 10**9),
        ("", DEFAULT_LIMIT),
    ]:
        monkeypatch.setenv("SUPERPAC_CACHE_LIMIT", text)
        assert DiskCache().limit == size
    assert DiskCache().folder == tmp_path
    monkeypatch.setenv("SUPERPAC_CACHE_LIMIT", "much")
    with pytest.raises(InputError, match="SUPERPAC_CACHE_LIMIT"):
        DiskCache()


def test_another_version_reads_nothing(cache, monkeypatch):
    cache.put("k", {"x": 1})
    monkeypatch.setattr(cache_module, "_versions", lambda: "another")
    assert cache.get("k") is None


def test_the_least_recently_used_go_first(tmp_path):
    cache = DiskCache(tmp_path, limit=3 * 210_000)
    mine = tmp_path / "of-the-user.npz"
    mine.write_bytes(b"x" * 10**6)
    long_ago = time.time() - 1000
    for n in range(3):
        cache.put(f"k{n}", {"x": SIZED})
    for n, path in enumerate(sorted(tmp_path.glob("superpac-*"))):
        os.utime(path, (long_ago + n, long_ago + n))
    assert cache.get("k0") is not None  # used now, so it stays
    cache.put("k3", {"x": SIZED})
    assert cache.get("k0") is not None
    assert cache.get("k3") is not None
    assert len(list(tmp_path.glob("superpac-*"))) == 3
    cache.put("too large", {"x": np.zeros(10**6)})
    assert cache.get("too large") is None
    assert len(list(tmp_path.glob("superpac-*"))) == 3
    assert mine.exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "noise", "flipped", "pickle"])
def test_a_damaged_file_is_made_anew(cache, damage):
    cache.put("k", {"x": SIZED})
    (path,) = files(cache)
    whole = bytearray(path.read_bytes())
    if damage == "flipped":
        whole[len(whole) // 2] ^= 1
    elif damage == "pickle":
        np.savez(path, layout=np.array([{"x": 1}], dtype=object))
        whole = bytearray(path.read_bytes())
    path.write_bytes(
        {"cut": whole[:-1000], "empty": b"", "noise": b"\x80abc" * 99}.get(damage, whole)
    )
    assert cache.get("k") is None
    assert files(cache) == []
    assert cache.get_or_make("k", lambda: {"x": 1}) == {"x": 1}
    assert cache.get("k") == {"x": 1}


def test_every_flipped_byte_is_found_or_harmless(cache):
    x = np.arange(3)
    cache.put("k", {"x": x})
    (path,) = files(cache)
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        found = cache.get("k")
        if found is not None:
            np.testing.assert_array_equal(found["x"], x)


def test_a_folder_deleted_in_between_is_made_again(cache):
    cache.put("k", {"x": 1})
    for path in files(cache):
        path.unlink()
    assert cache.folder is not None
    cache.folder.rmdir()
    assert cache.get("k") is None
    cache.put("k", {"x": 2})
    assert cache.get("k") == {"x": 2}


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache = DiskCache(blocked / "results")
    assert cache.get_or_make("k", lambda: {"x": 1}) == {"x": 1}
    assert cache.get("k") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a read-only folder")
def test_a_read_only_folder_is_read(cache):
    cache.put("k", {"x": 1})
    assert cache.folder is not None
    cache.folder.chmod(0o500)
    try:
        cache.put("new", {"x": 2})
        assert cache.get("k") == {"x": 1}
        assert cache.get("new") is None
    finally:
        cache.folder.chmod(0o700)


def test_a_disk_that_fills_up_leaves_no_pieces(cache):
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    code = (
        "import numpy as np, sys; from superpac.cache import DiskCache\n"
        "found = DiskCache(sys.argv[1]).get_or_make('k', lambda: {'x': np.ones(10**5)})\n"
        "print(found['x'].sum())"
    )
    run = [sys.executable, "-c", code, str(cache.folder)]
    said = subprocess.run(run, preexec_fn=limited, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "100000.0"
    assert files(cache) == []


def test_what_a_killed_writer_left_goes_after_an_hour(cache):
    cache.put("k", {"x": 1})
    assert cache.folder is not None
    old, new = cache.folder / ".superpac-a.draft", cache.folder / ".superpac-b.draft"
    old.write_text("")
    new.write_text("")
    os.utime(old, (0, 0))
    cache.put("k2", {"x": 1})
    assert not old.exists()
    assert new.exists()


def test_two_processes_on_the_same_keys(tmp_path):
    # The limit holds about three of the five values, so that each deletes what the other reads.
    code = """
import sys, numpy as np
from superpac.cache import DiskCache
cache = DiskCache(sys.argv[1], limit=650_000)
for step in range(150):
    n = step % 5
    found = cache.get_or_make(f"k{n}", lambda: {"x": np.full(25_000, n), "n": n})
    assert found["n"] == n and (found["x"] == n).all()
"""
    run = [sys.executable, "-c", code, str(tmp_path)]
    both = [subprocess.Popen(run, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[1] for process in both] == ["", ""]
    assert [process.returncode for process in both] == [0, 0]
    kept = list(tmp_path.iterdir())
    assert 1 <= len(kept) <= 4  # the limit, or one above it where both wrote last
    assert all(path.suffix == ".npz" for path in kept)
