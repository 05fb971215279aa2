"""Broken files of every format: a usable data set or one sentence, never anything else."""

from __future__ import annotations

import io
import warnings

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import io as scipy_io

from superpac.data import load
from superpac.errors import SuperpacError

X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def whole_files() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, write in {
        "a.npy": lambda f: np.save(f, X),
        "a.npz": lambda f: np.savez_compressed(f, X=X, y=np.arange(6), image_shape=[2, 2]),
        "a.mat": lambda f: scipy_io.savemat(f, {"X": X, "y": np.arange(6)}, do_compression=True),
        "a.parquet": lambda f: pd.DataFrame(X, columns=list("abcd")).to_parquet(f),
        "a.csv": lambda f: pd.DataFrame(X, columns=list("abcd")).to_csv(f),
    }.items():
        buffer = io.BytesIO()
        write(buffer)
        files[name] = buffer.getvalue()
    return files


FILES = whole_files()


def usable_or_said(path, **options):
    try:
        data = load(path, **options)
    except SuperpacError as error:
        text = str(error)
        assert "\n" not in text
        assert path.name in text
        return
    assert np.isfinite(data.points()).all()
    assert len(np.unique(data.ids)) == len(data) >= 2


@st.composite
def broken(draw, content: bytes):
    damage = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        damage[draw(st.integers(0, len(damage) - 1))] = draw(st.integers(0, 255))
    return bytes(damage[: draw(st.integers(0, len(damage)))] if draw(st.booleans()) else damage)


@pytest.mark.parametrize("name", list(FILES))
def test_flipped_and_cut_files(tmp_path, name):
    @settings(max_examples=150, database=None)
    @given(content=broken(FILES[name]))
    def check(content):
        (tmp_path / name).write_bytes(content)
        usable_or_said(tmp_path / name)

    check()


@pytest.mark.parametrize("suffix", ["png", "jpg", "pgm", "tif", "gif", "bmp", "webp"])
def test_flipped_and_cut_images(tmp_path, suffix):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 7)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / f"a.{suffix}")
    path = tmp_path / f"b.{suffix}"
    Image.fromarray(pixels).save(path)

    @settings(max_examples=60, database=None)
    @given(content=broken(path.read_bytes()))
    def check(content):
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Pillow's own remarks on broken TIFF tags
                data = load(tmp_path, size=5)
        except SuperpacError as error:
            assert path.name in str(error)  # noqa: PT017
            return
        assert data.X.shape == (2, 25)

    check()


@pytest.mark.parametrize("cut", [1, 8, 96, 500, 1000, 1999])
def test_cut_hdf5(tmp_path, cut):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(SuperpacError, match=r"a\.h5"):
        load(path)


@settings(max_examples=300, database=None)
@given(text=st.text(max_size=60), suffix=st.sampled_from([".csv", ".tsv", ".txt"]))
def test_any_text_as_csv(tmp_path_factory, text, suffix):
    path = tmp_path_factory.mktemp("text") / f"a{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    usable_or_said(path)


@settings(max_examples=300, database=None)
@given(
    rows=st.lists(
        st.lists(st.sampled_from(["1", "-2.5", "", "x", "nan", '"', '"a,b"', "1e400", " 7 "])),
        max_size=5,
    )
)
def test_any_cells_as_csv(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("cells") / "a.csv"
    path.write_text("\n".join(",".join(r) for r in rows))
    usable_or_said(path)
