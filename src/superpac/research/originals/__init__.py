"""Making the benchmark files from the originals as people download them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from superpac.data.benchmarks import data_folder
from superpac.data.catalogue import CATALOGUE
from superpac.errors import DataError, InputError, NotFoundError, StoreError
from superpac.research.originals.digits import read_mnist, read_usps
from superpac.research.originals.images import read_coil20, read_coil100, read_yale
from superpac.research.originals.uci import UCI, read_uci
from superpac.system.atomic_files import atomic_write

Arrays = dict[str, NDArray]
_ROWS = {"mnist_test.npz": 10000, "mnist_train.npz": 60000}


def import_original(
    name: str,
    source: str | os.PathLike[str],
    dest: str | os.PathLike[str] | None = None,
    *,
    partial: bool = False,
) -> tuple[Path, ...]:
    """Make a benchmark's file from the original files, so that `superpac.data.load` finds it.

    Parameters
    ----------
    name : str
        The benchmark, such as "yaleb".
    source : path
        The original: the CroppedYale folder, a COIL folder of PNG files, the folder of MNIST's
        idx(.gz) files, USPS as .h5 or libsvm(.bz2), a UCI table.
    dest : path, optional
        Folder to write to; by default the one that `load` looks in.
    partial : bool, default=False
        Accept an original of which rows are missing.

    Returns
    -------
    tuple of Path
        The files written. Each appears complete or not at all.
    """
    readers = _readers(name)
    origin = Path(source).expanduser()
    if not origin.exists():
        raise NotFoundError(
            f"{origin}: there is no such file or folder; {name} is made from "
            f"{CATALOGUE[name].original}."
        )
    folder = data_folder() if dest is None else Path(dest).expanduser()
    contents = {file: read(origin) for file, read in readers.items()}
    for file, arrays in contents.items():
        expected = _ROWS.get(file, CATALOGUE[name].n)
        if len(arrays["X"]) != expected and not partial:
            raise DataError(
                f"{origin}: holds {len(arrays['X'])} of the {expected} points of {name}; "
                "complete it, or accept a part with partial=True (--partial)."
            )
    return tuple(_write(folder / file, arrays) for file, arrays in contents.items())


def _readers(name: str) -> dict[str, Callable[[Path], Arrays]]:
    test: dict[str, Callable[[Path], Arrays]] = {"mnist_test.npz": lambda p: read_mnist(p, "t10k")}
    known: dict[str, dict[str, Callable[[Path], Arrays]]] = {
        "yaleb": {"yaleb.npz": read_yale},
        "coil20": {"coil20.npz": read_coil20},
        "coil100": {"coil100.npz": read_coil100},
        "mnist": test,
        "mnist70k": {**test, "mnist_train.npz": lambda p: read_mnist(p, "train")},
        "usps": {"usps.npz": read_usps},
        **{u: {CATALOGUE[u].files[0]: lambda p, u=u: read_uci(u, p)} for u in UCI},  # type: ignore[misc]
    }
    if name in known:
        return known[name]
    if name in CATALOGUE:
        raise InputError(f"{name} comes with scikit-learn; there is nothing to import.")
    raise NotFoundError(
        f"{name!r} is no benchmark that can be imported; there are {', '.join(known)}."
    )


def _write(path: Path, arrays: Arrays) -> Path:
    """Write a benchmark's file; others may read it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path, private=False) as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror or error}); "
            "name another folder with dest= (--to) or SUPERPAC_DATA."
        ) from error
    return path
