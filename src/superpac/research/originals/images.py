"""Face and object images as their creators distribute them: CroppedYale and COIL trees."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from superpac.data import image_files as pictures
from superpac.data.catalogue import CATALOGUE
from superpac.data.checks import reading
from superpac.errors import DataError

_YALE = re.compile(r"(yaleB\d\d)_P00A[+-]\d{3}E[+-]\d\d\.pgm(\.bad)?")
_COIL = re.compile(r"obj(\d{1,3})__(\d{1,3})\.(png|pgm|ppm)", re.IGNORECASE)


def read_yale(source: Path) -> dict[str, NDArray]:
    """Read the CroppedYale tree: 192x168 PGM files, reduced to 48x42.

    Files ending in ``.bad`` (damaged in acquisition, as the database itself says) are kept and
    flagged; the ambient-light images are left out. The reduction is antialiased bicubic (kernel
    a = -0.5, mirrored border), rounded once.

    References
    ----------
    Lee, Ho and Kriegman, "Acquiring Linear Subspaces for Face Recognition under Variable
    Lighting", IEEE TPAMI 27(5), 2005.
    """
    subjects = CATALOGUE["yaleb"].class_names or ()
    files = [p for p in _tree(source) if (m := _YALE.fullmatch(p.name)) and m[1] in subjects]
    if not files:
        raise DataError(
            f"{source}: no file such as yaleB01/yaleB01_P00A+000E+00.pgm below it; "
            "give the CroppedYale folder."
        )
    files.sort(key=lambda p: p.name)
    _refuse_repeats([(p.name.removesuffix(".bad"), p) for p in files])
    # Sparse: each output pixel needs 16 inputs, and products this small stall threaded BLAS.
    down = sparse.csr_array(bicubic_weights(192, 48))
    across = sparse.csr_array(bicubic_weights(168, 42))
    X = np.empty((len(files), 48 * 42), dtype=np.uint8)
    for k, path in enumerate(files):
        reduced = (across @ (down @ _pixels(path, (192, 168), grey=True)).T).T
        X[k] = np.rint(np.clip(reduced, 0, 255)).reshape(-1)
    return {
        "X": X,
        "y": np.array([subjects.index(p.name[:7]) for p in files], dtype=np.int16),
        "image_shape": np.array([48, 42]),
        "bad": np.array([p.name.endswith(".bad") for p in files]),
    }


def bicubic_weights(n: int, m: int) -> NDArray[np.float64]:
    """Build the m x n matrix that reduces n samples to m, antialiased, with mirrored borders.

    References
    ----------
    Keys, "Cubic convolution interpolation for digital image processing", IEEE TASSP 29(6),
    1981; widened by n/m as usual for reduction.

    Examples
    --------
    >>> bicubic_weights(8, 2).sum(axis=1).tolist()
    [1.0, 1.0]
    """
    scale = m / n
    centre = (np.arange(m) + 0.5) / scale - 0.5
    first = np.floor(centre - 2 / scale).astype(int)
    index = first[:, None] + np.arange(int(np.ceil(4 / scale)) + 2)
    t = np.abs(scale * (centre[:, None] - index))
    near = (1.5 * t - 2.5) * t**2 + 1
    far = ((-0.5 * t + 2.5) * t - 4) * t + 2
    weights = np.where(t <= 1, near, np.where(t < 2, far, 0.0))
    weights /= weights.sum(axis=1, keepdims=True)
    index %= 2 * n
    index = np.where(index >= n, 2 * n - 1 - index, index)
    matrix = np.zeros((m, n))
    np.add.at(matrix, (np.arange(m)[:, None], index), weights)
    return matrix


def read_coil20(source: Path) -> dict[str, NDArray]:
    """Read the processed COIL-20 tree (128x128 grey): means over 4x4 blocks, in 0..1.

    References
    ----------
    Nene, Nayar and Murase, "Columbia Object Image Library (COIL-20)", CUCS-005-96, 1996.
    """
    files, y = _coil_files(source, 20)
    X = np.empty((len(files), 1024), dtype=np.float32)
    for k, path in enumerate(files):
        blocks = _pixels(path, (128, 128), grey=True).reshape(32, 4, 32, 4)
        X[k] = (blocks.sum(axis=(1, 3)) / (16 * 255)).reshape(-1)
    return {"X": X, "y": y, "image_shape": np.array([32, 32])}


def read_coil100(source: Path) -> dict[str, NDArray]:
    """Read the COIL-100 tree (128x128 colour): bilinear to 32x32 without antialiasing, then grey.

    References
    ----------
    Nene, Nayar and Murase, "Columbia Object Image Library (COIL-100)", CUCS-006-96, 1996.
    """
    files, y = _coil_files(source, 100)
    X = np.empty((len(files), 1024), dtype=np.uint8)
    for k, path in enumerate(files):
        a = _pixels(path, (128, 128), grey=False).astype(np.int64)
        centre = a[1::4, 1::4] + a[2::4, 1::4] + a[1::4, 2::4] + a[2::4, 2::4]
        red, green, blue = np.moveaxis((centre + 2) // 4, 2, 0)
        X[k] = np.rint(0.299 * red + 0.587 * green + 0.114 * blue).reshape(-1)
    return {"X": X, "y": y, "image_shape": np.array([32, 32])}


def _coil_files(source: Path, n_objects: int) -> tuple[list[Path], NDArray[np.int16]]:
    found = []
    for path in _tree(source):
        match = _COIL.fullmatch(path.name)
        if match and 1 <= int(match[1]) <= n_objects:
            found.append((int(match[1]), int(match[2]), path))
    if not found:
        raise DataError(
            f"{source}: no file such as obj1__0.png below it; give the folder of the PNG files."
        )
    found.sort()
    _refuse_repeats([(f"object {o}, view {v}", p) for o, v, p in found])
    return [p for _, _, p in found], np.array([o - 1 for o, _, _ in found], dtype=np.int16)


def _refuse_repeats(named: list[tuple[str, Path]]) -> None:
    seen: dict[str, Path] = {}
    for key, path in named:
        if key in seen:
            raise DataError(
                f"{path}: the same image is also {seen[key]}; give a folder with one copy."
            )
        seen[key] = path


def _tree(source: Path) -> list[Path]:
    if not source.is_dir():
        raise DataError(f"{source}: is not a folder; give the folder of the original images.")
    with reading(source, "a folder"):
        return sorted(p for p in source.rglob("*") if p.is_file() and "__MACOSX" not in p.parts)


def _pixels(path: Path, shape: tuple[int, int], grey: bool) -> NDArray:
    with pictures.opened(path) as image, reading(path, "an image"):
        if image.size != (shape[1], shape[0]):
            raise DataError(
                f"{path}: {image.size[1]}x{image.size[0]} pixels (height x width), the original "
                f"has {shape[0]}x{shape[1]}; give the files as distributed."
            )
        return np.asarray(pictures.eight_bit(image, grey)).astype(np.float64)
