"""Facts of the benchmark sets, as published. Sizes are those of the complete sets."""

from __future__ import annotations

from dataclasses import dataclass

from superpac.data.dataset import Kind

DIGITS = tuple(str(k) for k in range(10))


@dataclass(frozen=True)
class Benchmark:
    """What is known of a benchmark before any file is opened.

    Parameters
    ----------
    name, title : str
        Name to load it by, and its full name.
    files : tuple of str
        Files in the data folder; none where scikit-learn brings it.
    n, n_classes, dim : int
        Points, classes, values per point.
    kind : {"image", "table", "vector"}
        How a point is drawn.
    original : str
        What `superpac.research.originals.import_original` makes the files from.
    image_shape, default_dim, class_names, columns
        As in `superpac.data.Dataset`.
    """

    name: str
    title: str
    files: tuple[str, ...]
    n: int
    n_classes: int
    dim: int
    kind: Kind
    original: str = ""
    image_shape: tuple[int, int] | None = None
    default_dim: int | None = None
    class_names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None


def _image(
    name: str, title: str, files: tuple[str, ...], n: int, k: int, side: tuple[int, int],
    original: str, default_dim: int | None = None, class_names: tuple[str, ...] | None = None,
) -> Benchmark:  # fmt: skip
    return Benchmark(
        name, title, files, n, k, side[0] * side[1], "image", original, side, default_dim,
        class_names,
    )  # fmt: skip


def _table(
    name: str, title: str, n: int, classes: str, columns: str, original: str, dim: int = 0
) -> Benchmark:
    names, heads = tuple(classes.split()), tuple(columns.split())
    dim = dim or len(heads)
    kind: Kind = "table" if heads else "vector"
    file = "sonar.npz" if name == "sonar" else f"uci_{name}.npz"
    return Benchmark(
        name, title, (file,), n, len(names), dim, kind, original,
        class_names=names, columns=heads or None,
    )  # fmt: skip


_SUBJECTS = tuple(f"yaleB{k:02d}" for k in range(1, 40) if k != 14)
_CELL = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"  # noqa: E501

_ALL = (
    _image("yaleb", "Extended Yale Face Database B, cropped", ("yaleb.npz",), 2432, 38, (48, 42),
           "the CroppedYale folder of PGM files", 9, _SUBJECTS),
    _image("mnist", "MNIST digits, the test part", ("mnist_test.npz",), 10000, 10, (28, 28),
           "the folder of the idx(.gz) files", 3, DIGITS),
    _image("mnist70k", "MNIST digits, test part then training part",
           ("mnist_test.npz", "mnist_train.npz"), 70000, 10, (28, 28),
           "the folder of the idx(.gz) files", 3, DIGITS),
    _image("usps", "USPS digits", ("usps.npz",), 9298, 10, (16, 16),
           "usps.h5, usps(.bz2) and usps.t(.bz2), or zip.train(.gz) and zip.test(.gz)", 9, DIGITS),
    _image("coil20", "Columbia Object Image Library 20", ("coil20.npz",), 1440, 20, (32, 32),
           "the coil-20-proc folder of PNG files", 9, tuple(f"obj{k}" for k in range(1, 21))),
    _image("coil100", "Columbia Object Image Library 100", ("coil100.npz",), 7200, 100, (32, 32),
           "the coil-100 folder of PNG files", 9, tuple(f"obj{k}" for k in range(1, 101))),
    _image("digits", "scikit-learn's 8x8 digits", (), 1797, 10, (8, 8), "", None, DIGITS),
    _table("sonar", "Sonar, mines against rocks", 208, "mine rock", "", "sonar.all-data", 60),
    _table("iris", "Iris", 150, "setosa versicolor virginica",
           "sepal_length sepal_width petal_length petal_width", "iris.data"),
    _table("wine", "Wine", 178, "1 2 3",
           "alcohol malic_acid ash ash_alcalinity magnesium phenols flavanoids "
           "nonflavanoid_phenols proanthocyanins colour hue od280/od315 proline", "wine.data"),
    _table("glass", "Glass Identification", 214, "1 2 3 5 6 7", "RI Na Mg Al Si K Ca Ba Fe",
           "glass.data"),
    _table("ionosphere", "Ionosphere", 351, "bad good", "", "ionosphere.data", 34),
    _table("ecoli", "Ecoli", 336, "cp im imL imS imU om omL pp", "mcg gvh lip chg aac alm1 alm2",
           "ecoli.data"),
    _table("segment", "Image Segmentation", 2310,
           "BRICKFACE CEMENT FOLIAGE GRASS PATH SKY WINDOW",
           "region-centroid-col region-centroid-row region-pixel-count short-line-density-5 "
           "short-line-density-2 vedge-mean vedge-sd hedge-mean hedge-sd intensity-mean "
           "rawred-mean rawblue-mean rawgreen-mean exred-mean exblue-mean exgreen-mean "
           "value-mean saturation-mean hue-mean",
           "the folder of segmentation.data and segmentation.test"),
    _table("yeast", "Yeast", 1484, "CYT ERL EXC ME1 ME2 ME3 MIT NUC POX VAC",
           "mcg gvh alm mit erl pox vac nuc", "yeast.data"),
    _table("parkinsons", "Parkinsons", 195, "healthy parkinsons",
           "MDVP:Fo(Hz) MDVP:Fhi(Hz) MDVP:Flo(Hz) MDVP:Jitter(%) MDVP:Jitter(Abs) MDVP:RAP "
           "MDVP:PPQ Jitter:DDP MDVP:Shimmer MDVP:Shimmer(dB) Shimmer:APQ3 Shimmer:APQ5 MDVP:APQ "
           "Shimmer:DDA NHR HNR RPDE DFA spread1 spread2 D2 PPE", "parkinsons.data"),
    _table("pendigits", "Pen-Based Recognition of Handwritten Digits", 10992, " ".join(DIGITS),
           " ".join(f"x{k} y{k}" for k in range(1, 9)),
           "the folder of pendigits.tra and pendigits.tes"),
    _table("wdbc", "Breast Cancer Wisconsin (Diagnostic)", 569, "malignant benign",
           " ".join(f"{part}_{c}" for part in ("mean", "se", "worst") for c in _CELL.split()),
           "wdbc.data"),
)  # fmt: skip

CATALOGUE: dict[str, Benchmark] = {b.name: b for b in _ALL}
"""Every benchmark by name."""
