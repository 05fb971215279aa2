from __future__ import annotations

import bz2
import gzip
import struct

import h5py
import numpy as np
import pytest
from PIL import Image

from superpac.data import load
from superpac.data.catalogue import CATALOGUE
from superpac.errors import DataError, InputError, NotFoundError, StoreError
from superpac.research.originals import import_original
from superpac.research.originals.images import bicubic_weights
from superpac.research.originals.uci import UCI

RNG = np.random.default_rng(0)


def stored(paths) -> dict:
    with np.load(paths[0], allow_pickle=False) as file:
        return {k: file[k] for k in file}


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


# -- Yale ----------------------------------------------------------------------------------------


def yale_tree(root, subjects=("yaleB01", "yaleB15")):
    pictures = {}
    for subject in subjects:
        folder = root / "CroppedYale" / subject
        folder.mkdir(parents=True)
        for light in ("A+000E+00", "A-005E-10", "A+005E+10"):
            pixels = RNG.integers(0, 256, (192, 168)).astype(np.uint8)
            name = f"{subject}_P00{light}.pgm"
            if subject == "yaleB15" and light == "A-005E-10":
                name += ".bad"
            Image.fromarray(pixels).save(folder / name, format="PPM")
            pictures[name] = pixels
        save(folder / f"{subject}_P00_Ambient.pgm", np.zeros((480, 640), np.uint8))
        (folder / f"{subject}_P00.info").write_text("yaleB01_P00_Ambient.pgm\n")
        (folder / "WS_FTP.LOG").write_text("log")
    return pictures


def test_yale_tree(tmp_path):
    pictures = yale_tree(tmp_path)
    out = tmp_path / "out"
    with pytest.raises(DataError, match="holds 6 of the 2432 points of yaleb; .*--partial"):
        import_original("yaleb", tmp_path, out)
    assert not out.exists()
    arrays = stored(import_original("yaleb", tmp_path, out, partial=True))
    assert arrays["X"].dtype == np.uint8
    assert arrays["y"].tolist() == [0, 0, 0, 13, 13, 13]
    assert arrays["bad"].tolist() == [False, False, False, False, False, True]
    assert arrays["image_shape"].tolist() == [48, 42]
    down, across = bicubic_weights(192, 48), bicubic_weights(168, 42)
    for row, name in zip(arrays["X"], sorted(pictures), strict=True):
        exact = down @ pictures[name] @ across.T
        assert np.array_equal(row.reshape(48, 42), np.rint(np.clip(exact, 0, 255)))


def test_yale_is_loaded_after_import(tmp_path, monkeypatch):
    yale_tree(tmp_path)
    monkeypatch.setenv("SUPERPAC_DATA", str(tmp_path / "out"))
    import_original("yaleb", tmp_path, partial=True)
    data = load("yaleb")
    assert [data.class_names[k] for k in data.y] == ["yaleB01"] * 3 + ["yaleB15"] * 3
    assert data.extras["bad"].sum() == 1
    assert data.default_dim == 9


def test_bicubic_weights_agree_with_pillow_inside():
    # Pillow uses the same kernel but cuts it at the border where this one mirrors.
    pixels = RNG.random((192, 168)).astype(np.float32)
    ours = bicubic_weights(192, 48) @ pixels @ bicubic_weights(168, 42).T
    pillow = Image.fromarray(pixels).resize((42, 48), Image.Resampling.BICUBIC)
    assert np.allclose(ours[2:-2, 2:-2], np.asarray(pillow)[2:-2, 2:-2], atol=1e-5)


def test_yale_with_odd_files(tmp_path):
    with pytest.raises(DataError, match="give the CroppedYale folder"):
        import_original("yaleb", tmp_path, tmp_path / "out")
    yale_tree(tmp_path)
    path = tmp_path / "CroppedYale/yaleB01/yaleB01_P00A+000E+00.pgm"
    save(path, np.zeros((96, 84), np.uint8))
    with pytest.raises(DataError, match=r"yaleB01_P00A\+000E\+00.pgm: 96x84 pixels"):
        import_original("yaleb", tmp_path, tmp_path / "out", partial=True)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match="yaleB01_P00A"):
        import_original("yaleb", tmp_path, tmp_path / "out", partial=True)


# -- COIL ----------------------------------------------------------------------------------------


@pytest.mark.realdata
def test_coil20_tree_of_real_images(tmp_path, need_data):
    real = np.load(need_data("coil20"))
    rows = [0, 1, 2, 10, 72 * 9, 72 * 9 + 71]
    for row in rows:
        blocks = real["X"][row].reshape(32, 32).astype(np.float64) * 4080
        pixels = np.zeros((128, 128), dtype=np.uint8)
        # Sixteen whole pixels a block whose sum is the block's: the first few get one more.
        total = np.rint(blocks).astype(int)
        for k in range(16):
            share = total // 16 + (k < total % 16)
            pixels[k // 4 :: 4, k % 4 :: 4] = share
        save(tmp_path / f"coil-20-proc/obj{row // 72 + 1}__{row % 72}.png", pixels)
    arrays = stored(import_original("coil20", tmp_path, tmp_path / "out", partial=True))
    assert np.array_equal(arrays["X"], real["X"][rows])
    assert arrays["X"].dtype == real["X"].dtype == np.float32
    assert np.array_equal(arrays["y"], real["y"][rows])
    assert np.array_equal(arrays["image_shape"], real["image_shape"])


def test_coil100_tree(tmp_path):
    named = {}
    for number, angle in ((2, 5), (2, 10), (100, 0), (10, 355), (1, 100), (1, 20)):
        pixels = RNG.integers(0, 256, (128, 128, 3)).astype(np.uint8)
        save(tmp_path / f"coil-100/obj{number}__{angle}.png", pixels)
        named[number, angle] = pixels
    arrays = stored(import_original("coil100", tmp_path, tmp_path / "out", partial=True))
    assert arrays["y"].tolist() == [0, 0, 1, 1, 9, 99]
    for row, key in zip(arrays["X"], sorted(named), strict=True):
        centre = named[key].astype(float).reshape(32, 4, 32, 4, 3)[:, 1:3, :, 1:3]
        colour = np.floor(centre.mean(axis=(1, 3)) + 0.5)
        exact = colour[..., 0] * 0.299 + colour[..., 1] * 0.587 + colour[..., 2] * 0.114
        assert np.abs(row.reshape(32, 32) - exact).max() <= 0.5 + 1e-9


def test_coil_with_odd_files(tmp_path):
    save(tmp_path / "obj1__0.png", np.zeros((64, 64), np.uint8))
    with pytest.raises(DataError, match=r"obj1__0\.png: 64x64 pixels"):
        import_original("coil20", tmp_path, tmp_path / "out", partial=True)
    for folder in ("a", "b"):
        save(tmp_path / "two" / folder / "obj1__0.png", np.zeros((128, 128), np.uint8))
    with pytest.raises(DataError, match="the same image is also"):
        import_original("coil20", tmp_path / "two", tmp_path / "out", partial=True)
    with pytest.raises(DataError, match="is not a folder"):
        import_original("coil20", tmp_path / "obj1__0.png", tmp_path / "out")


# -- MNIST ---------------------------------------------------------------------------------------


def idx(array) -> bytes:
    array = np.asarray(array, dtype=np.uint8)
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


@pytest.mark.realdata
def test_mnist_idx_round_trip(tmp_path, need_data):
    path = need_data("mnist_test")
    real = np.load(path)
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(
        gzip.compress(idx(real["X"].reshape(-1, 28, 28)), compresslevel=1)
    )
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(real["y"])))
    written = import_original("mnist", tmp_path, tmp_path / "out")
    assert [p.name for p in written] == ["mnist_test.npz"]
    arrays = stored(written)
    for key in real:
        assert np.array_equal(arrays[key], real[key])
        assert arrays[key].dtype == real[key].dtype


def test_mnist70k_writes_both_parts_from_plain_files(tmp_path):
    for part, n in (("t10k", 3), ("train", 5)):
        images = RNG.integers(0, 256, (n, 28, 28))
        (tmp_path / f"{part}-images.idx3-ubyte").write_bytes(idx(images))
        (tmp_path / f"{part}-labels.idx1-ubyte").write_bytes(idx(np.arange(n)))
    written = import_original("mnist70k", tmp_path, tmp_path / "out", partial=True)
    assert [p.name for p in written] == ["mnist_test.npz", "mnist_train.npz"]
    assert [len(np.load(p)["y"]) for p in written] == [3, 5]


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (b"text", idx([1, 2]), "does not start"),
        (idx(np.zeros((2, 4, 4)))[:-1], idx([1, 2]), "announces 32 bytes .* has 31"),
        (idx(np.zeros((2, 4, 4))) + b"x", idx([1, 2]), "has more"),
        (idx(np.zeros((2, 4, 4))), idx([1, 2, 3]), "3 labels for 2 images"),
        (idx(np.zeros((2, 4, 4))), idx([1, 22]), "22 is not the label"),
        (bytes([0, 0, 8, 3]) + b"\xff" * 12, idx([1, 2]), "far more than MNIST"),
    ],
)
def test_mnist_with_odd_files(tmp_path, images, labels, words):
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(images)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels)
    with pytest.raises(DataError, match=words):
        import_original("mnist", tmp_path, tmp_path / "out", partial=True)


# -- USPS ----------------------------------------------------------------------------------------


def usps_h5(folder, X, y, cut):
    with h5py.File(folder / "usps.h5", "w") as file:
        for part, rows in (("train", slice(None, cut)), ("test", slice(cut, None))):
            file[f"{part}/data"] = X[rows].astype(np.float32)
            file[f"{part}/target"] = y[rows]


def usps_libsvm(folder, X, y, cut):
    for name, rows in (("usps.bz2", slice(None, cut)), ("usps.t.bz2", slice(cut, None))):
        lines = []
        for row, label in zip(2 * X[rows].astype(np.float64) - 1, y[rows], strict=True):
            cells = (f"{j + 1}:{v:.3f}" for j, v in enumerate(row) if abs(v) > 5e-4)
            lines.append(f"{label + 1} {' '.join(cells)} \n")
        (folder / name).write_bytes(bz2.compress("".join(lines).encode(), 1))


def usps_zip(folder, X, y, cut):
    for name, rows in (("zip.train.gz", slice(None, cut)), ("zip.test.gz", slice(cut, None))):
        table = np.column_stack([y[rows], 2 * X[rows].astype(np.float64) - 1])
        text = "\n".join(f"{r[0]:.4f} " + " ".join(f"{v:.3f}" for v in r[1:]) + " " for r in table)
        (folder / name).write_bytes(gzip.compress(text.encode(), 1))


@pytest.mark.realdata
@pytest.mark.parametrize("write", [usps_h5, usps_libsvm, usps_zip])
def test_usps_round_trip(tmp_path, need_data, write):
    real = np.load(need_data("usps"))
    rows = np.arange(0, 9298, 12)
    X, y = real["X"][rows], real["y"][rows]
    write(tmp_path, X, y, 500)
    first = sorted(tmp_path.iterdir())[0]
    for k, source in enumerate((tmp_path, first)):
        written = import_original("usps", source, tmp_path / f"out{k}", partial=True)
        arrays = stored(written)
        assert np.array_equal(arrays["X"], X)
        assert np.array_equal(arrays["y"], y)
        assert arrays["X"].dtype == np.float32
        assert arrays["image_shape"].tolist() == [16, 16]


def test_usps_with_odd_files(tmp_path):
    with pytest.raises(DataError, match=r"none of usps\.h5"):
        import_original("usps", tmp_path, tmp_path / "out")
    usps_h5(tmp_path, RNG.random((6, 256)) * 255, np.arange(6), 3)
    with pytest.raises(DataError, match=r"-1\.\.1 or 0\.\.1"):
        import_original("usps", tmp_path, tmp_path / "out", partial=True)
    with h5py.File(tmp_path / "usps.h5", "w") as file:
        file["data"] = np.zeros((3, 256))
    with pytest.raises(DataError, match="train/data"):
        import_original("usps", tmp_path, tmp_path / "out", partial=True)
    (tmp_path / "usps.bz2").write_bytes(bz2.compress(b"1 1:0.5\n"))
    with pytest.raises(DataError, match="test part"):
        import_original("usps", tmp_path, tmp_path / "out", partial=True)
    (tmp_path / "usps.t.bz2").write_bytes(b"BZh9 broken")
    with pytest.raises(DataError, match=r"usps\.t\.bz2"):
        import_original("usps", tmp_path, tmp_path / "out", partial=True)


# -- UCI -----------------------------------------------------------------------------------------


def uci_line(name, values, label) -> str:
    """A line as the repository's own file has it."""
    cells = [f"{v:.7g}" for v in values]
    if name == "segment":
        return ",".join([label, *cells])
    if name in ("ecoli", "yeast"):
        return "  ".join(["SOME_NAME", *cells, label])
    if name == "glass":
        return ",".join(["17", *cells, label])
    if name == "parkinsons":
        return ",".join(["phon_R01_S01_1", *cells[:16], label, *cells[16:]])
    return ",".join([*cells, label])


@pytest.mark.realdata
@pytest.mark.parametrize("name", UCI)
def test_uci_round_trip(tmp_path, need_data, name):
    file = CATALOGUE[name].files[0]
    real = np.load(need_data(file.removesuffix(".npz")))
    labels = {"sonar": "MR", "ionosphere": "bg", "parkinsons": "01"}.get(
        name, CATALOGUE[name].class_names
    )
    lines = [uci_line(name, v, labels[k]) for v, k in zip(real["X"], real["y"], strict=True)]
    heading = {"segment": ";;; comment\nREGION-CENTROID-COL,REGION\n\n", "parkinsons": "name,a\n"}
    names = {
        "sonar": ["sonar.all-data"],
        "segment": ["segmentation.data", "segmentation.test"],
        "pendigits": ["pendigits.tra", "pendigits.tes"],
    }.get(name, [f"{name}.data"])
    half = len(lines) // 2 if len(names) == 2 else len(lines)
    for part, held in zip(names, (lines[:half], lines[half:]), strict=False):
        (tmp_path / part).write_text(heading.get(name, "") + "\n".join(held) + "\n\n")
    written = import_original(name, tmp_path, tmp_path / "out")
    assert [p.name for p in written] == [file]
    arrays = stored(written)
    assert np.allclose(arrays["X"], real["X"], rtol=1e-6, atol=0)
    assert np.array_equal(arrays["y"], real["y"])
    assert arrays["X"].dtype == real["X"].dtype


def test_uci_with_odd_files(tmp_path):
    path = tmp_path / "sonar.all-data"
    path.write_text("hello\n")
    with pytest.raises(DataError, match="no line of 61 values"):
        import_original("sonar", path, tmp_path / "out")
    good = ",".join(["0.5"] * 60) + ",M\n"
    path.write_text(good + "0.5,R\n")
    with pytest.raises(DataError, match="line 2 has not 61 values"):
        import_original("sonar", path, tmp_path / "out")
    path.write_text(good.replace("0.5", "half", 1))
    with pytest.raises(DataError, match="line 1 is not numeric"):
        import_original("sonar", path, tmp_path / "out")


# -- all -----------------------------------------------------------------------------------------


def test_names_and_sources_are_checked(tmp_path):
    with pytest.raises(InputError, match="comes with scikit-learn"):
        import_original("digits", tmp_path)
    with pytest.raises(NotFoundError, match="'cifar' is no benchmark"):
        import_original("cifar", tmp_path)
    with pytest.raises(NotFoundError, match="CroppedYale"):
        import_original("yaleb", tmp_path / "nowhere")


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    yale_tree(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    (out / "yaleb.npz").write_bytes(b"old")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full)
        with pytest.raises(StoreError, match=r"yaleb\.npz: .*No space left"):
            import_original("yaleb", tmp_path, out, partial=True)
    assert (out / "yaleb.npz").read_bytes() == b"old"
    assert [p.name for p in out.iterdir()] == ["yaleb.npz"]
    import_original("yaleb", tmp_path, out, partial=True)
    assert len(stored([out / "yaleb.npz"])["X"]) == 6
    with pytest.raises(StoreError, match="--to"):
        import_original("yaleb", tmp_path, out / "yaleb.npz" / "below", partial=True)
