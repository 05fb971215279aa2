"""Results that cost much and can be made again, kept on disk: affinities, embeddings, figures.

The folder may be deleted at any time, and several processes may use it at once. Whatever is wrong
with it - full, read-only, a damaged file - costs time, never a result: the value is made anew.

A file is an uncompressed .npz. For a graph of 10,000 points with 20 neighbours each it loads in
5 ms; separate .npy files would take 1 ms, but have no checksums and cannot be renamed as one, and
compression takes 26 ms to load and 360 ms to write.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from superpac.errors import InputError
from superpac.system.atomic_files import DRAFT, atomic_write
from superpac.system.memory import parse_bytes

if TYPE_CHECKING:
    from scipy import sparse

FOLDER_SETTING = "SUPERPAC_CACHE"
LIMIT_SETTING = "SUPERPAC_CACHE_LIMIT"
DEFAULT_LIMIT = 2_000_000_000
OFF = ("", "off")

_FORMAT = 1
_NAME = "superpac-{}.npz"  # no other file is ever read or deleted: the folder may hold a user's own
_DRAFT_LIVES_S = 3600.0  # an older one was left by a process that was killed
_COMPUTING = ("affinity", "graph", "strategies", "subspaces")


class DiskCache:
    """Values kept in a folder under a key, the least recently used deleted first.

    A value is a dict of NumPy arrays, SciPy sparse matrices and JSON values. The version of
    superpac, of NumPy and of SciPy belongs to every key, and so does the code that computes: what
    another version kept is never read.

    Parameters
    ----------
    folder : path, optional
        Where to keep them; "off" or "" keeps nothing. By default what the environment variable
        SUPERPAC_CACHE says, else the user's cache folder.
    limit : int, optional
        Bytes to keep in all. By default what SUPERPAC_CACHE_LIMIT says, such as ``500 MB``, else
        2 GB.
    of_code : bool, default=True
        Whether the versions and the code belong to every key. Without them a value outlives an
        upgrade, so its key must name all that it depends on.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> cache = DiskCache(folder.name)
    >>> cache.get("squares of 3") is None
    True
    >>> cache.get_or_make("squares of 3", lambda: {"x": np.arange(3) ** 2, "n": 3})["x"]
    array([0, 1, 4])
    >>> cache.get("squares of 3")["n"]
    3
    >>> folder.cleanup()
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        limit: int | None = None,
        *,
        of_code: bool = True,
    ) -> None:
        if folder is None:
            folder = os.environ.get(FOLDER_SETTING)
        if folder is None:
            folder = platformdirs.user_cache_path("superpac", appauthor=False) / "results"
        is_off = str(folder).strip().lower() in OFF
        self.folder = None if is_off else Path(folder).expanduser()
        self.limit = _limit_setting() if limit is None else limit
        self.of_code = of_code

    def get(self, key: str) -> dict[str, Any] | None:
        """Give what is kept under a key; None where nothing is, or nothing that can be read.

        Parameters
        ----------
        key : str
            Everything that the value depends on: the data's fingerprint and all parameters.

        Returns
        -------
        dict or None
            Sparse matrices come back as ``csr_array``, tuples in JSON values as lists.
        """
        if self.folder is None:
            return None
        path = self._path(self.folder, key)
        try:
            with path.open("rb") as file:
                values = _read(file)
        except OSError:  # absent, or not to be read now
            return None
        except Exception:  # a damaged file can fail in any way; it is of no use to anybody
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # the time of last use; many file systems do not note it when reading
        return values

    def put(self, key: str, values: Mapping[str, Any]) -> None:
        """Keep a value; where the disk does not let us, nothing happens.

        Parameters
        ----------
        key : str
            As in :meth:`get`.
        values : mapping of str to array, sparse matrix or JSON value
            Arrays of Python objects are refused with TypeError.
        """
        members = _members(values)
        if self.folder is None or sum(array.nbytes for array in members.values()) > self.limit:
            return
        # full, read-only, deleted under our hands, or something else has the file's name
        with suppress(OSError, InputError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_write(self._path(self.folder, key), sync=False) as file:
                np.savez(file, **members)  # type: ignore[arg-type]
            self._prune(self.folder)

    def get_or_make(self, key: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Give what is kept under a key; else make it and keep it.

        Parameters
        ----------
        key : str
            As in :meth:`get`.
        make : callable
            Makes the value.

        Returns
        -------
        dict
        """
        found = self.get(key)
        if found is None:
            found = dict(make())
            self.put(key, found)
        return found

    def sparse(self, key: str, make: Callable[[], sparse.csr_array]) -> sparse.csr_array:
        """Give the sparse matrix that is kept under a key; else make it and keep it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from scipy import sparse
        >>> with TemporaryDirectory() as folder:
        ...     DiskCache(folder).sparse("eye", lambda: sparse.csr_array(np.eye(3))).nnz
        3
        """
        return self.get_or_make(key, lambda: {"matrix": make()})["matrix"]

    def part(self, about: str) -> CachePart:
        """What is kept about one thing, such as the points and the affinity of a session.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     DiskCache(folder).part("digits").put("size", {"n": 1797})
        ...     DiskCache(folder).get("digits: size")
        {'n': 1797}
        """
        return CachePart(self, about)

    def lasting(self) -> DiskCache:
        """The same folder for values whose keys name all that they depend on.

        Examples
        --------
        >>> DiskCache("off").lasting().of_code
        False
        """
        return DiskCache("off" if self.folder is None else self.folder, self.limit, of_code=False)

    def _path(self, folder: Path, key: str) -> Path:
        """File of a key, whatever characters the key has."""
        versions = _versions() if self.of_code else f"{_FORMAT}"
        # a key may hold a file name, and that need not be valid text
        text = f"{versions}\n{key}".encode(errors="backslashreplace")
        return folder / _NAME.format(sha256(text).hexdigest())

    def _prune(self, folder: Path) -> None:
        """Delete the least recently used files beyond the limit, and what killed writers left."""
        kept, now = [], time.time()
        for path in folder.glob(_NAME.format("*")):
            with suppress(OSError):  # another process was faster
                facts = path.stat()
                kept.append((facts.st_mtime, facts.st_size, path))
        total = sum(size for _, size, _ in kept)
        for _, size, path in sorted(kept):
            if total <= self.limit:
                break
            with suppress(OSError):
                path.unlink()
            total -= size
        for path in folder.glob(f".superpac-*{DRAFT}"):
            with suppress(OSError):
                if now - path.stat().st_mtime > _DRAFT_LIVES_S:
                    path.unlink()


@dataclass(frozen=True)
class CachePart:
    """Part of a cache: every key begins with what it is about.

    Attributes
    ----------
    cache : DiskCache
        Where it is kept.
    about : str
        What all of it depends on.
    """

    cache: DiskCache
    about: str

    def get(self, what: str) -> dict[str, Any] | None:
        """As :meth:`DiskCache.get`."""
        return self.cache.get(f"{self.about}: {what}")

    def put(self, what: str, values: Mapping[str, Any]) -> None:
        """As :meth:`DiskCache.put`."""
        self.cache.put(f"{self.about}: {what}", values)

    def get_or_make(self, what: str, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """As :meth:`DiskCache.get_or_make`."""
        return self.cache.get_or_make(f"{self.about}: {what}", make)


def _limit_setting() -> int:
    """Bytes from the environment, such as "500 MB"."""
    text = os.environ.get(LIMIT_SETTING, "")
    if not text.strip():
        return DEFAULT_LIMIT
    return parse_bytes(LIMIT_SETTING, text)


def _members(values: Mapping[str, Any]) -> dict[str, NDArray]:
    """Arrays of a file: numbered, with a layout in JSON, since a name may be any text."""
    layout: list[list[Any]] = []
    arrays: list[NDArray] = []
    for name, value in values.items():
        if hasattr(value, "tocsr"):
            matrix = value.tocsr()
            layout.append([name, "sparse", list(matrix.shape)])
            arrays += [matrix.data, matrix.indices, matrix.indptr]
        elif isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                raise TypeError(f"{name!r} is an array of Python objects, which cannot be kept.")
            layout.append([name, "array", None])
            arrays.append(value)
        else:
            layout.append([name, "json", value])
    text = np.frombuffer(json.dumps(layout).encode(), dtype=np.uint8)
    return {"layout": text, **{f"a{n}": array for n, array in enumerate(arrays)}}


def _read(file: Any) -> dict[str, Any]:
    """Values of an open file; anything may be raised where it is damaged."""
    with np.load(file, allow_pickle=False) as members:
        layout = json.loads(members["layout"].tobytes())
        arrays = (members[f"a{n}"] for n in range(len(members.files) - 1))
        values: dict[str, Any] = {}
        for name, kind, fact in layout:
            if kind == "sparse":
                from scipy import sparse

                parts = (next(arrays), next(arrays), next(arrays))
                values[name] = sparse.csr_array(parts, shape=tuple(fact))
            else:
                values[name] = next(arrays) if kind == "array" else fact
        return values


@lru_cache(maxsize=1)
def _versions() -> str:
    """What belongs to every key; the code itself too, since a checkout changes between releases."""
    try:
        own = version("superpac")
    except PackageNotFoundError:
        own = ""
    code = sha256()
    root = Path(__file__).parent
    for path in sorted(path for room in _COMPUTING for path in (root / room).rglob("*.py")):
        code.update(path.read_bytes())
    return f"{_FORMAT} {own} {np.__version__} {version('scipy')} {code.hexdigest()}"
