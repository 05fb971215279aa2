"""The benchmark sets: what they are, where their files are looked for, how they are read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from superpac.data.arrays import load_npz
from superpac.data.catalogue import CATALOGUE, Benchmark
from superpac.data.dataset import Dataset
from superpac.errors import DataError, NotFoundError

_WITH_SKLEARN = {
    "digits": "load_digits",
    "iris": "load_iris",
    "wine": "load_wine",
    "wdbc": "load_breast_cancer",
}


@dataclass(frozen=True)
class Listed:
    """A benchmark's facts, and whether it can be loaded here.

    Parameters
    ----------
    benchmark : Benchmark
        The facts as published.
    where : str
        Files it is read from, or would be.
    present : bool
        Whether `superpac.data.load` finds it.
    """

    benchmark: Benchmark
    where: str
    present: bool

    @property
    def name(self) -> str:
        """Name to load it by."""
        return self.benchmark.name


def data_folder() -> Path:
    """Folder of the benchmark files: ``SUPERPAC_DATA``, else the user's cache folder."""
    named = os.environ.get("SUPERPAC_DATA")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("superpac", appauthor=False) / "data"


def available() -> list[Listed]:
    """List every benchmark by name, whether or not its files are there.

    Examples
    --------
    >>> from superpac.data import available
    >>> [b.name for b in available() if b.name.startswith("coil")]
    ['coil20', 'coil100']
    >>> next(b.present for b in available() if b.name == "digits")
    True
    """
    folder = data_folder()
    listed = []
    for benchmark in CATALOGUE.values():
        files = [folder / f for f in benchmark.files]
        if files and all(f.is_file() for f in files):
            listed.append(Listed(benchmark, ", ".join(map(str, files)), True))
        elif benchmark.name in _WITH_SKLEARN:
            listed.append(Listed(benchmark, "comes with scikit-learn", True))
        else:
            listed.append(Listed(benchmark, ", ".join(map(str, files)), False))
    return listed


def load_benchmark(name: str) -> Dataset:
    """Load a benchmark by name; a missing file is an error that names the import command."""
    benchmark = CATALOGUE[name]
    folder = data_folder()
    missing = [f for f in benchmark.files if not (folder / f).is_file()]
    if name in _WITH_SKLEARN and (missing or not benchmark.files):
        return _from_sklearn(benchmark)
    if missing:
        raise NotFoundError(
            f"{name} needs {' and '.join(missing)}, not found in {folder}; set SUPERPAC_DATA to "
            f"the folder that holds it, or make it from the original "
            f"({benchmark.original}): superpac data import {name} SOURCE"
        )
    parts = [load_npz(folder / f) for f in benchmark.files]
    if any(part.y is None or part.X.shape[1] != benchmark.dim for part in parts):
        raise DataError(
            f"{folder / benchmark.files[0]}: is not the file of {name} ({benchmark.dim} values per "
            f"point and labels y); make it again: superpac data import {name} SOURCE"
        )
    joined = parts[0]
    if len(parts) > 1:
        X = np.concatenate([p.X for p in parts])
        y = np.concatenate([_numbers(p) for p in parts])
        joined = Dataset(X, y=y, image_shape=joined.image_shape, source=joined.source)
    return _finish(joined, benchmark)


def _numbers(part: Dataset) -> np.ndarray:
    names = np.array(part.class_names or (), dtype=int)
    return names[part.y]


def _finish(data: Dataset, benchmark: Benchmark) -> Dataset:
    y, names = data.y, data.class_names
    if benchmark.class_names:
        # The file counts classes from 0; a part of the data may lack some.
        y, names = _numbers(data), benchmark.class_names
    return replace(
        data,
        y=y,
        class_names=names,
        name=benchmark.name,
        kind=benchmark.kind,
        columns=benchmark.columns,
        default_dim=benchmark.default_dim,
    )


def _from_sklearn(benchmark: Benchmark) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, _WITH_SKLEARN[benchmark.name])()
    X = bunch.data.astype(np.uint8 if benchmark.kind == "image" else np.float32)
    plain = Dataset(X, y=bunch.target, image_shape=benchmark.image_shape, source="scikit-learn")
    return _finish(plain, benchmark)
