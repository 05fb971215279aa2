"""Handwritten digits as people download them: MNIST idx files, USPS in its three usual forms."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from superpac.data.checks import reading
from superpac.errors import DataError

_MOST_BYTES = 2**28
_MOST_IMAGES = 10**6


def read_mnist(source: Path, part: str) -> dict[str, NDArray]:
    """Read one part (``"t10k"`` or ``"train"``) of MNIST's idx files, gzipped or not.

    References
    ----------
    LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document
    Recognition", Proc. IEEE 86(11), 1998.
    """
    images = _find(source, rf"{part}-images[-.]idx3-ubyte(\.gz)?", f"{part}-images-idx3-ubyte.gz")
    labels = _find(source, rf"{part}-labels[-.]idx1-ubyte(\.gz)?", f"{part}-labels-idx1-ubyte.gz")
    X, y = read_idx(images, 3), read_idx(labels, 1)
    if len(X) != len(y):
        raise DataError(
            f"{labels}: {len(y)} labels for {len(X)} images in {images.name}; "
            "give the two files of the same part."
        )
    _check_digits(y, labels)
    return {
        "X": X.reshape(len(X), -1),
        "y": y.astype(np.int16),
        "image_shape": np.array(X.shape[1:]),
    }


def read_idx(path: Path, ndim: int) -> NDArray[np.uint8]:
    """Read an idx file of unsigned bytes with this many dimensions."""
    with reading(path, "an idx file"), _plain(path) as file:
        head = file.read(4 + 4 * ndim)
        if len(head) < 4 + 4 * ndim or head[:4] != bytes([0, 0, 8, ndim]):
            raise DataError(
                f"{path}: does not start as an idx file of {ndim} dimension(s) does; "
                "give the file as downloaded."
            )
        shape = struct.unpack(f">{ndim}I", head[4:])
        count = int(np.prod(shape, dtype=object))
        if shape[0] > _MOST_IMAGES or count > 1024 * _MOST_IMAGES:
            raise DataError(f"{path}: claims {shape} values, far more than MNIST has.")
        # One byte more than announced is asked for, to see a file that goes on.
        body = file.read(count + 1)
    if len(body) != count:
        found = "more" if len(body) > count else f"{len(body):,}"
        raise DataError(
            f"{path}: announces {count:,} bytes of values and has {found}; download it again."
        )
    return np.frombuffer(body, dtype=np.uint8).reshape(shape)


def read_usps(source: Path) -> dict[str, NDArray]:
    """Read USPS from ``usps.h5``, LIBSVM's ``usps`` and ``usps.t``, or ``zip.train/zip.test``.

    Values are stored in 0..1 with background 0, whatever the scale of the source. A training
    file needs its test file beside it.

    References
    ----------
    LeCun et al., "Handwritten Digit Recognition with a Back-Propagation Network", NIPS 1989;
    Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning".
    """
    folder = source if source.is_dir() else source.parent
    chosen = source.name if source.is_file() else ""
    pairs: list[tuple[str, str, Callable[[Path], tuple[NDArray, NDArray]]]] = [
        (r"usps(\.bz2|\.gz)?", r"usps\.t(\.bz2|\.gz)?", _read_libsvm),
        (r"zip\.train(\.gz)?", r"zip\.test(\.gz)?", _read_zip),
    ]
    if chosen.endswith((".h5", ".hdf5")):
        return _usps_h5(source)
    for first, second, reader in pairs:
        train = next((p for p in _files(folder) if re.fullmatch(first, p.name)), None)
        wanted = not chosen or re.fullmatch(f"{first}|{second}", chosen)
        if train and wanted:
            test = _find(folder, second, "the test part, usps.t.bz2 or zip.test.gz,")
            parts = [reader(train), reader(test)]
            X = np.concatenate([p[0] for p in parts])
            return _usps(X, np.concatenate([p[1] for p in parts]), train)
    stored = next((p for p in _files(folder) if p.suffix in (".h5", ".hdf5")), None)
    if stored is None or chosen:
        raise DataError(
            f"{source}: is none of usps.h5, usps.bz2 with usps.t.bz2, zip.train.gz with "
            "zip.test.gz; give one of them or their folder."
        )
    return _usps_h5(stored)


def _usps_h5(path: Path) -> dict[str, NDArray]:
    import h5py

    from superpac.data.hdf5 import read_dataset

    parts = []
    with reading(path, "an HDF5 file"), h5py.File(path, "r") as file:
        for part in ("train", "test"):
            held = [file.get(f"{part}/{key}") for key in ("data", "target")]
            if not all(isinstance(h, h5py.Dataset) for h in held):
                raise DataError(
                    f"{path}: has no {part}/data and {part}/target; give usps.h5 as downloaded."
                )
            parts.append([read_dataset(h, f"{path}, {part}") for h in held])
    X = np.concatenate([p[0].reshape(len(p[0]), -1) for p in parts])
    return _usps(X, np.concatenate([p[1].ravel() for p in parts]), path)


def _read_libsvm(path: Path) -> tuple[NDArray, NDArray]:
    with reading(path, "a libsvm file"):
        X, y = load_svmlight_file(io.BytesIO(_bytes(path)), n_features=256, zero_based=False)
        return X.toarray(), y - 1  # digit d has label d + 1 there


def _read_zip(path: Path) -> tuple[NDArray, NDArray]:
    with reading(path, "a text file of numbers"):
        values = np.loadtxt(io.BytesIO(_bytes(path)), ndmin=2)
    return values[:, 1:], values[:, 0]


def _usps(X: NDArray, y: NDArray, path: Path) -> dict[str, NDArray]:
    if X.ndim != 2 or X.shape[1] != 256 or len(X) != len(y) or not np.isfinite(X).all():
        raise DataError(
            f"{path}: holds {X.shape} values and {y.shape} labels, USPS has 256 finite values and "
            "one label per digit; give the file as downloaded."
        )
    _check_digits(y, path)
    X = X.astype(np.float64)
    low, high = X.min(), X.max()
    if low < -0.5:
        X = (X + 1) / 2
    if X.min() < -1e-3 or X.max() > 1 + 1e-3:
        raise DataError(
            f"{path}: values run from {low:g} to {high:g}, USPS comes in -1..1 or 0..1; rescale it."
        )
    # The source has three decimals in -1..1; the grid undoes rounding on the way here.
    grid = np.rint(X * 2000) / 2000
    if np.abs(X - grid).max() < 1e-4:
        X = grid
    return {
        "X": X.astype(np.float32),
        "y": y.astype(np.int16),
        "image_shape": np.array([16, 16]),
    }


def _check_digits(y: NDArray, path: Path) -> None:
    if not np.isin(y, range(10)).all():
        bad = y[~np.isin(y, range(10))][0]
        raise DataError(f"{path}: {bad:g} is not the label of a digit; give the original file.")


def _files(folder: Path) -> list[Path]:
    with reading(folder, "a folder"):
        return sorted(p for p in folder.rglob("*") if p.is_file())


def _find(source: Path, pattern: str, example: str) -> Path:
    folder = source if source.is_dir() else source.parent
    for path in _files(folder):
        if re.fullmatch(pattern, path.name):
            return path
    raise DataError(f"{folder}: {example} is not below it; give the folder of the originals.")


def _plain(path: Path) -> IO[bytes]:
    opener: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    return opener.get(path.suffix, open)(path, "rb")


def _bytes(path: Path) -> bytes:
    with _plain(path) as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(
            f"{path}: unpacks to more than {_MOST_BYTES >> 20} MiB, far more than USPS has."
        )
    return content
