"""``superpac add``: folders, tables and vectors that grow while a session is under way."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from command_line import superpac
from superpac.cli import common
from superpac.cli.label import _begun, _gone_on
from superpac.cli.sessions import load_session
from superpac.data import load
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError
from superpac.features import ImageFeatures
from superpac.session.spec import Spec
from superpac.store import open_store
from superpac.web.workspace import find_or_create

X, Y = make_subspaces(12, 3, 2, 5, noise=0.2, seed=3)
X = X[np.random.default_rng(1).permutation(len(X))]
HOW = ("-k", 3, "-a", "tsc:q=4", "-d", 2, "--name", "grows")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    return tmp_path


def picture(path, number):
    path.parent.mkdir(exist_ok=True, parents=True)
    pixels = np.random.default_rng([number, 5]).integers(0, 255, (6, 6), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def table(path, start, end, columns="abcde", ids=None):
    names = [[f"{ids}{k}"] if ids else [] for k in range(start, end)]
    rows = [[*(["id"] if ids else []), *columns]]
    rows += [[*name, *map(repr, X[k].tolist())] for k, name in enumerate(names, start)]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    return path


def status(*more):
    return json.loads(superpac("status", "grows", "--model", "--json", *more).stdout)


def refused(*words):
    done = superpac(*words, check=False)
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def opened(place):
    with open_store(place / "store.sqlite3", read_only=True) as store:
        session = load_session(store, "grows")
        session.data  # noqa: B018 - read while the store is open
        return session


def test_a_second_folder_enters_and_what_is_there_is_passed_over(place):
    for k in range(20):
        picture(place / "old" / f"{k}.png", k)
    for k in range(18, 24):
        picture(place / "new" / f"{k - 18}.png", k)
    superpac("new", place / "old", *HOW)
    superpac("ask", "grows", stdin="s\nd\nd\nq\n")
    before = opened(place)
    said = superpac("add", "grows", place / "new", "--as", "Ada").stdout
    assert (
        "Items added to 'grows': 4; it has 24 now; passed over what was there already: 2." in said
    )
    after = opened(place)
    assert after.state.answers == before.state.answers
    np.testing.assert_array_equal(after.data.X[:20], before.data.X)
    assert after.data.ids.tolist()[:20] == before.data.ids.tolist()
    assert [p.parent.name for p in after.data.paths] == ["old"] * 20 + ["new"] * 4
    assert status()["items"] == 24
    assert " 24 " in superpac("sessions").stdout
    out = place / "clusters.csv"
    superpac("export", "grows", "-o", out)
    assert len(out.read_text().splitlines()) == 25
    again = superpac("add", "grows", place / "new").stdout
    assert "Nothing in" in again
    assert opened(place).seq == after.seq


def test_the_same_folder_that_has_grown_says_how_to_add_and_adds_what_is_new(place):
    for k in range(20):
        picture(place / "old" / f"{k}.png", k)
    superpac("new", place / "old", *HOW)
    superpac("ask", "grows", stdin="s\nd\nq\n")
    picture(place / "old" / "0-first.png", 40)  # before all others in the order of names
    picture(place / "old" / "sub" / "x.png", 41)
    picture(place / "old" / "copy.png", 3)
    command = f"superpac add grows {place / 'old'}"
    said = refused("ask", "grows")
    assert "2 items that the session 'grows' does not have (new: 0-first.png, sub/x.png)" in said
    assert command in said
    with open_store(place / "store.sqlite3") as store:
        spec, items = Spec(3, "tsc:q=4", dim=2), load(place / "old")
        with pytest.raises(InputError, match="or begin a new session under another --name"):
            find_or_create(store, items, spec, None, {})
    before = superpac("sessions").stdout
    assert before.count("superpac-d") == 1  # label has begun no session of its own
    assert "Items added to 'grows': 2; it has 22 now" in superpac(*command.split()[1:]).stdout
    with open_store(place / "store.sqlite3") as store:
        items = load(place / "old")
        assert find_or_create(store, items, spec, None, {})[0].info.name == "grows"
    session = opened(place)
    assert session.data.ids.tolist()[20:] == ["0-first.png", "sub/x.png"]
    assert len(session.state.answers) == 2
    (place / "old" / "5.png").rename(place / "old" / "z-renamed.png")
    assert "z-renamed.png" in opened(place).data.ids
    np.testing.assert_array_equal(opened(place).data.X, session.data.X)


def test_label_on_the_first_folder_goes_on_with_the_session_that_has_grown(place):
    for k in range(24):
        picture(place / ("old" if k < 20 else "new") / f"{k}.png", k)
    superpac("new", place / "old", *HOW)
    superpac("add", "grows", place / "new")
    how = dict.fromkeys(common.DATA_OPTIONS)
    spec = Spec(3, "tsc:q=4", dim=2)
    begun = _begun(str(place / "old"), how, spec, None, None)
    assert _begun(str(place / "new"), how, spec, None, None) is None
    with open_store(place / "store.sqlite3") as store:
        log, items = _gone_on(store, begun, 3, how, str(place / "old"))
        assert (log.info.name, len(items)) == ("grows", 24)


def test_data_that_have_moved_are_named_place_by_place_or_all_in_one(place):
    for k in range(24):
        picture(place / ("old" if k < 20 else "new") / f"{k}.png", k)
    superpac("new", place / "old", *HOW)
    superpac("add", "grows", place / "new")
    (place / "old").rename(place / "first")
    (place / "new").rename(place / "second")
    assert "no such file or folder" in refused("status", "grows", "--model")
    both = ("--data", place / "first", "--data", place / "second")
    assert status(*both)["items"] == 24
    for file in (place / "second").iterdir():
        file.rename(place / "first" / file.name)
    assert status("--data", place / "first")["items"] == 24
    (place / "first" / "3.png").unlink()
    assert "missing: 3.png" in refused("status", "grows", "--model", "--data", place / "first")


@pytest.mark.parametrize("scaled", [(), ("--standardise",)])
def test_rows_of_a_table_enter_from_a_file_of_their_own_and_from_one_that_grew(place, scaled):
    old, more = table(place / "old.csv", 0, 24), table(place / "more.csv", 24, 28)
    superpac("new", old, *HOW, *scaled)
    superpac("ask", "grows", stdin="s\nd\nd\nq\n")
    said = superpac("add", "grows", more).stdout
    assert "Items added to 'grows': 4; it has 28 now." in said
    table(old, 0, 24)
    rows = old.read_text() + "".join(",".join(map(repr, X[k].tolist())) + "\n" for k in (28, 29))
    old.write_text(rows)
    assert f"superpac add grows {old}" in refused("status", "grows", "--model")
    assert "Items added to 'grows': 2; it has 30 now" in superpac("add", "grows", old).stdout
    session = opened(place)
    shown = session.data.X if session.data.shown is None else session.data.shown
    np.testing.assert_array_equal(shown, X[:30])
    assert session.data.ids.tolist() == [str(k) for k in range(30)]
    assert session.state.n_answers == 3
    assert status()["items"] == 30


def test_a_table_that_grew_alone_is_added_from_its_own_file(place):
    old = table(place / "old.csv", 0, 24, ids="row ")
    superpac("new", old, *HOW, "--ids", "id")
    table(old, 0, 30, ids="row ")
    superpac("add", "grows", old)
    assert opened(place).data.ids.tolist()[-1] == "row 29"


def test_label_on_a_table_that_grew_goes_on_with_its_session(place, capsys):
    old = table(place / "old.csv", 0, 24, ids="row ")
    superpac("new", old, *HOW, "--ids", "id")
    superpac("ask", "grows", stdin="s\nd\nd\nq\n")
    table(old, 0, 30, ids="row ")
    how = dict.fromkeys(common.DATA_OPTIONS) | {"ids": "id"}
    begun = _begun(str(old), how, Spec(3, "tsc:q=4", dim=2), None, None)
    with open_store(place / "store.sqlite3") as store:
        log, items = _gone_on(store, begun, 3, how, str(old))
        assert (log.info.name, items.ids.tolist()[-1]) == ("grows", "row 29")
    assert "6 new; going on with 3 answers" in capsys.readouterr().err


def test_vectors_enter_too(place):
    np.save(place / "old.npy", X[:25])
    np.save(place / "one.npy", X[25:26])
    superpac("new", place / "old.npy", *HOW)
    assert "Items added to 'grows': 1;" in superpac("add", "grows", place / "one.npy").stdout
    np.testing.assert_array_equal(opened(place).data.X, X[:26])


def test_what_does_not_fit_is_one_sentence_and_writes_nothing(place):
    superpac("new", table(place / "old.csv", 0, 24, ids="row "), *HOW, "--ids", "id")
    for file, said in (
        (table(place / "other.csv", 24, 26, columns="abcdz", ids="x"), "missing: e"),
        (table(place / "names.csv", 5, 8, ids="row "), "the name 'row 5' is taken"),
        (place / "nowhere.csv", "no such file or folder"),
    ):
        assert said in refused("add", "grows", file)
    assert "There is no session 'nobody'" in refused("add", "nobody", place / "old.csv")
    session = opened(place)
    assert (session.seq, len(session.data)) == (0, 24)


def test_a_grown_session_travels_in_an_archive_and_a_backup(place):
    superpac("new", table(place / "old.csv", 0, 24), *HOW)
    superpac("ask", "grows", stdin="s\nd\nq\n")
    superpac("add", "grows", table(place / "more.csv", 24, 30))
    superpac("ask", "grows", stdin="s\nd\nq\n")
    here = opened(place)
    superpac("export", "grows", "-o", place / "all.zip")
    superpac("import", place / "all.zip", "--store", place / "other.sqlite3")
    superpac("store", "backup", "--to", place)
    backup = next(
        path
        for path in place.glob("*.sqlite3")
        if path.name not in ("store.sqlite3", "other.sqlite3")
    )
    superpac("store", "restore", backup, "--to", place / "third.sqlite3")
    for store in ("other", "third"):
        path = place / f"{store}.sqlite3"
        superpac("verify", "grows", "--store", path)
        with open_store(path, read_only=True) as kept:
            there = load_session(kept, "grows")
            assert there.events == here.events
            np.testing.assert_array_equal(there.data.X, here.data.X)


def test_another_session_on_grown_data_finds_all_its_places_again(place):
    """The page begins such a session when somebody chooses other settings there."""
    for k in range(24):
        picture(place / ("old" if k < 20 else "new") / f"{k}.png", k)
    superpac("new", place / "old", *HOW)
    superpac("add", "grows", place / "new")
    session = opened(place)
    with open_store(place / "store.sqlite3") as store:
        spec = Spec(2, "tsc:q=4", dim=2)
        log, resumed = find_or_create(
            store, session.data, spec, "second", dict(session.info.source)
        )
        assert not resumed
        assert log.info.n_items == 24
        again = load_session(store, "second")
        np.testing.assert_array_equal(again.data.X, session.data.X)
        with pytest.raises(InputError):
            load_session(store, "second", [str(place / "old")]).data  # noqa: B018


@pytest.fixture
def photos(place):
    """Coloured pictures, which an encoder makes vectors of."""

    def save(path, number):
        path.parent.mkdir(exist_ok=True, parents=True)
        colour = np.array([(200, 40, 30), (40, 190, 60)][number % 2])
        noise = np.random.default_rng([number, 6]).integers(-25, 25, (40 + number, 50, 3))
        Image.fromarray(np.clip(colour + noise, 0, 255).astype(np.uint8)).save(path)

    for k in range(12):
        save(place / "old" / f"{k}.png", k)
    return save


def test_encoded_photos_enter_one_by_one_or_by_the_folder_and_only_new_ones_are_encoded(
    place, photos, monkeypatch
):
    how = ("-k", 2, "-a", "tsc:q=3", "-d", 1, "--name", "grows")
    superpac("new", place / "old", *how)
    superpac("ask", "grows", stdin="s\nd\nq\n")
    encoded = []
    real = ImageFeatures._encode

    def noted(self, batch):
        encoded.extend(path.name for path in batch)
        return real(self, batch)

    monkeypatch.setattr(ImageFeatures, "_encode", noted)
    photos(place / "one" / "new.png", 20)
    assert "Items added to 'grows': 1" in superpac("add", "grows", place / "one").stdout
    photos(place / "lone.png", 21)
    assert "Items added to 'grows': 1" in superpac("add", "grows", place / "lone.png").stdout
    photos(place / "old" / "0-first.png", 22)
    (place / "old" / "5.png").rename(place / "old" / "z-renamed.png")
    assert "Items added to 'grows': 1" in superpac("add", "grows", place / "old").stdout
    assert encoded == ["new.png", "lone.png", "0-first.png"]
    assert "Nothing in" in superpac("add", "grows", place / "one").stdout
    session = opened(place)
    assert session.data.ids.tolist()[12:] == ["new.png", "lone.png", "0-first.png"]
    assert session.data.ids.tolist()[7] == "z-renamed.png"
    assert len(session.state.answers) == 2
    assert status()["items"] == 15


def test_encoded_photos_are_found_again_where_vectors_were_forgotten(place, photos, monkeypatch):
    superpac("new", place / "old", "-k", 2, "-a", "tsc:q=3", "-d", 1, "--name", "grows")
    monkeypatch.setenv("SUPERPAC_CACHE", str(place / "another cache"))
    real = ImageFeatures._encode
    monkeypatch.setattr(ImageFeatures, "_encode", lambda self, batch: real(self, batch) + 1e-6)
    assert status()["items"] == 12


def test_texts_enter_from_another_table_and_from_one_that_was_sorted(place):
    kinds = ("the card number {} is lost", "a train leaves from platform {}")
    lines = [kinds[n % 2].format(n) for n in range(20)]

    def write(name, chosen):
        (place / name).write_text("text\n" + "".join(f"{line}\n" for line in chosen))
        return place / name

    first = write("asked.csv", lines[:14])
    superpac(*("new", first, "-k", 2, "--features", "text-plain", "-a", "tsc:q=3", "-d", 1))
    superpac("add", "asked", write("more.csv", [lines[3], lines[15]]))
    write("asked.csv", sorted([*lines[:14], lines[17]]))
    assert "Items added to 'asked': 1; it has 16" in superpac("add", "asked", first).stdout
    with open_store(place / "store.sqlite3", read_only=True) as store:
        session = load_session(store, "asked")
        assert list(session.data.texts) == [*lines[:14], lines[15], lines[17]]
        assert session.data.X.shape == (16, 16)


def test_a_single_grey_picture_enters_too(place):
    for k in range(20):
        picture(place / "old" / f"{k}.png", k)
    superpac("new", place / "old", *HOW)
    picture(place / "lone.png", 30)
    assert "it has 21 now" in superpac("add", "grows", place / "lone.png").stdout
    assert opened(place).data.ids.tolist()[-1] == "lone.png"
    assert "is a single image" in refused("new", place / "lone.png", *HOW[:6])
