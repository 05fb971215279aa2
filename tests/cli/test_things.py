"""``--features`` and ``--text``: photos, texts and sounds through the command line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image

from command_line import superpac
from superpac.cli import common
from superpac.store import open_store

KINDS = {"red": (200, 40, 30), "green": (40, 190, 60), "blue": (30, 60, 210)}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    return tmp_path


@pytest.fixture
def photos(place):
    """Coloured pictures of several sizes in folders by colour, and one that is broken."""
    rng = np.random.default_rng(3)
    for kind, colour in KINDS.items():
        folder = place / "photos" / kind
        folder.mkdir(parents=True)
        for n in range(6):
            noise = rng.integers(-25, 25, (70 + 5 * n, 90 - 3 * n, 3))
            pixels = np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{n}.png")
    (place / "photos" / "red" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n cut off")
    return place / "photos"


@pytest.fixture
def colours(place, monkeypatch):
    """A module of one's own whose function makes a vector of a photo's mean colour."""
    (place / "mine").mkdir()
    (place / "mine" / "my_colours.py").write_text(
        "import numpy as np\n"
        "from PIL import Image\n\n\n"
        "def mean_colour(paths):\n"
        "    pictures = [np.asarray(Image.open(p).convert('RGB')) for p in paths]\n"
        "    return np.stack([pixels.mean(axis=(0, 1)) for pixels in pictures])\n"
    )
    monkeypatch.syspath_prepend(place / "mine")
    return "my_colours:mean_colour"


def test_photos_of_mixed_sizes_through_a_network(photos):
    done = superpac(
        *("cluster", photos, "-k", 3, "--labels", "folders", "--features", "image"),
        *("-a", "tsc:q=3", "--json"),
    )
    found = json.loads(done.stdout)
    assert found["points"] == 18
    assert found["error"] == 0.0
    assert "Set aside: red/broken.png" in done.stderr


def test_a_function_of_ones_own_makes_the_vectors_and_is_not_run_because_a_log_says_so(
    photos, colours, monkeypatch
):
    superpac(
        *("new", photos, "-k", 3, "--features", colours, "-a", "tsc:q=3", "-d", 1, "--name", "own")
    )
    refused = superpac("status", "own", "--model", check=False)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert f"set SUPERPAC_FEATURES={colours} if you trust it" in refused.stderr
    monkeypatch.setenv("SUPERPAC_FEATURES", colours)
    assert json.loads(superpac("status", "own", "--model", "--json").stdout)["items"] == 18


def test_a_session_notes_which_encoder_made_its_vectors(photos, place):
    superpac("new", photos, "-k", 3, "--features", "pixels", "-a", "tsc:q=3", "--name", "noted")
    with open_store(place / "store.sqlite3", read_only=True) as store:
        info = store.open("noted").info
    assert info.source["features"] == "pixels"
    assert common.options_of(info)["features"] == "pixels"
    assert json.loads(superpac("status", "noted", "--model", "--json").stdout)["items"] == 18


def test_vectors_from_a_file_are_put_beside_the_photos_by_name(photos, place):
    names = sorted(p.relative_to(photos).as_posix() for p in photos.rglob("[0-9].png"))
    rows = [[name, *(10.0 * np.array(KINDS[name.split("/")[0]])).tolist()] for name in names]
    with (place / "vectors.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["file", "r", "g", "b"], *reversed(rows)])
    done = superpac(
        *("cluster", photos, "-k", 3, "--labels", "folders"),
        *("--features", place / "vectors.csv", "-a", "knn:k=3", "--json"),
    )
    assert json.loads(done.stdout)["error"] == 0.0


def test_texts_are_found_in_a_table_and_encoded(place):
    about = {"cat": "the cat sat on the mat", "train": "a train leaves from platform nine"}
    rows = [[f"{line} number {n}", kind] for kind, line in about.items() for n in range(8)]
    path = place / "asked.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["words", "about"], *rows])
    how = ("cluster", path, "-k", 2, "--labels", "about", "-a", "tsc:q=3", "--json")
    for more in (("--features", "text-plain"), ("--features", "text-plain", "--text", "words")):
        assert json.loads(superpac(*how, *more).stdout)["error"] == 0.0
    assert "no column 'word'" in refused(*how, "--text", "word")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--features", "magic"), "An encoder must be one of image"),
        (("--features", "image", "--size", "8"), "--size is for pixels"),
        (("--features", "nothing.npy"), "nothing.npy"),
        (("--features", "no_such_module:f"), "no_such_module"),
        (("--features", "onnx:none.onnx"), "none.onnx"),
    ],
)
def test_what_cannot_be_is_one_sentence(photos, words, sentence):
    assert sentence in refused("cluster", photos, "-k", 3, *words)


def refused(*words):
    done = superpac(*words, check=False)
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Set aside")]
    assert len(lines) == 1, done.stderr
    return done.stderr


def test_stages_within_stages_share_one_bar():
    with common.Stages() as outer, outer.stage("load"), common.Stages() as inner:
        assert inner._bar is outer._bar
        with inner.stage("vectors") as progress:
            progress(1, 2)
    assert set(outer.seconds) == {"load"}
    assert set(inner.seconds) == {"vectors"}
