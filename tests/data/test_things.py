from __future__ import annotations

import io
from functools import partial

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from superpac.data import load
from superpac.data.sound_files import Sound, as_wav
from superpac.data.things import Things, as_things, read_things
from superpac.errors import DataError, InputError, NotFoundError

RNG = np.random.default_rng(0)


def picture(size=(40, 30), kind="PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(RNG.integers(0, 256, (*size, 3)).astype(np.uint8)).save(buffer, kind)
    return buffer.getvalue()


def tone(seconds=0.1) -> bytes:
    return as_wav(Sound(RNG.uniform(-1, 1, int(8000 * seconds)).astype(np.float32), 8000))


def put(folder, **files: bytes):
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_photos_of_all_sizes_in_sub_folders(tmp_path):
    put(tmp_path, cat__1_png=picture(), cat__2_jpg=picture((9, 90), "JPEG"), dog__1_gif=picture())
    put(tmp_path, dog__notes_txt=b"no image")
    things = read_things(tmp_path, labels="folders")
    assert things.kind == "image"
    assert things.names == ("cat/1.png", "cat/2.jpg", "dog/1.gif")
    assert [p.name for p in things.paths] == ["1.png", "2.jpg", "1.gif"]
    assert things.y.tolist() == [0, 0, 1]
    assert things.class_names == ("cat", "dog")
    assert things.set_aside == ()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_a_file_cut_off_anywhere_is_set_aside_by_name(tmp_path, kind):
    whole = picture(kind=kind)
    put(tmp_path, a_png=picture(), c_png=picture())
    path = tmp_path / f"b.{kind.lower()}"
    for share in (0.0, 0.1, 0.5, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        things = read_things(tmp_path)
        assert things.names == ("a.png", "c.png")
        ((name, why),) = things.set_aside
        assert name == path.name
        assert str(tmp_path) not in why
    path.write_bytes(whole)
    assert len(read_things(tmp_path)) == 3


def test_bytes_after_the_end_do_no_harm(tmp_path):
    put(tmp_path, a_jpg=picture(kind="JPEG") + b"notes of a camera" * 9, b_png=picture() + b"\0")
    assert len(read_things(tmp_path)) == 2


def test_labels_stay_with_their_things_where_one_is_broken(tmp_path):
    put(tmp_path, a_png=picture(), b_png=b"", c_png=picture())
    things = read_things(tmp_path, labels=["x", "y", "z"])
    assert [things.class_names[k] for k in things.y] == ["x", "z"]


@pytest.mark.parametrize("read", [read_things, partial(load, aside=lambda name, why: None)])
def test_a_broken_file_outside_the_folders_needs_no_class(tmp_path, read):
    for kind in ("cat", "dog"):
        put(tmp_path / kind, a_png=picture(), b_png=picture())
    put(tmp_path, loose_png=b"broken")
    found = read(tmp_path, labels="folders")
    assert [found.class_names[k] for k in found.y] == ["cat", "cat", "dog", "dog"]
    put(tmp_path, loose_png=picture())
    with pytest.raises(DataError, match=r"loose\.png: lies in no sub-folder"):
        read(tmp_path, labels="folders")


def test_all_broken_is_an_error_that_says_why(tmp_path):
    put(tmp_path, a_png=b"x", b_png=b"y")
    with pytest.raises(DataError, match=r"0 of 2 can be used.*a\.png"):
        read_things(tmp_path)
    put(tmp_path, a_png=picture())
    with pytest.raises(DataError, match="1 of 2 can be used"):
        read_things(tmp_path)


def test_one_thing_and_nothing_are_refused(tmp_path):
    with pytest.raises(DataError, match="no image and no sound"):
        read_things(put(tmp_path, a_txt=b"words"))
    with pytest.raises(DataError, match="holds one image"):
        read_things(put(tmp_path, a_png=picture()))
    with pytest.raises(NotFoundError):
        read_things(tmp_path / "gone")


def test_links_out_of_the_folder_vector_graphics_and_other_kinds_are_set_aside(tmp_path):
    inside = tmp_path / "photos"
    put(tmp_path, secret_png=picture())
    put(inside, a_png=picture(), b_png=picture(), c_svg=b"<svg/>", d_wav=tone())
    (inside / "e.png").symlink_to(tmp_path / "secret.png")
    things = read_things(inside)
    assert things.names == ("a.png", "b.png")
    assert sorted(name for name, _ in things.set_aside) == ["c.svg", "d.wav", "e.png"]


def test_too_many_pixels_are_set_aside_undecoded(tmp_path):
    put(tmp_path, a_png=picture(), b_png=picture(), c_png=picture((100, 100)))
    assert read_things(tmp_path, limit_pixels=5000).names == ("a.png", "b.png")


def test_sounds(tmp_path):
    put(tmp_path, ann__1_wav=tone(), bob__1_wav=tone(), bob__2_wav=tone()[:99], cover_png=picture())
    things = read_things(tmp_path, labels="folders")
    assert things.kind == "sound"
    assert things.names == ("ann/1.wav", "bob/1.wav")
    assert dict(things.set_aside)["cover.png"] == "an image among sounds"
    assert dict(things.set_aside)["bob/2.wav"].startswith("the sound is cut off")
    data = things.dataset(np.eye(2), "speaker")
    assert (data.kind, data.features) == ("sound", "speaker")
    assert data.draw(0, 200).size[0] == 200


ASKED = "id,text,about\nq1,Where is my card?,card_arrival\nq2,Why was I charged twice?,extra_fee\n"


@pytest.mark.parametrize("text", [None, "text", 1])
def test_a_column_of_sentences_is_found_or_named(tmp_path, text):
    path = tmp_path / "asked.csv"
    path.write_text(ASKED)
    things = read_things(path, labels="about", ids="id", text=text)
    assert things.kind == "text"
    assert things.texts == ("Where is my card?", "Why was I charged twice?")
    assert things.names == ("q1", "q2")
    assert things.class_names == ("card_arrival", "extra_fee")


def test_parquet_holds_the_same(tmp_path):
    (tmp_path / "a.csv").write_text(ASKED)
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    one, other = (read_things(tmp_path / f"a.{s}", labels="about") for s in ("csv", "parquet"))
    assert one.texts == other.texts
    assert one.y.tolist() == other.y.tolist()


def test_a_class_of_several_words_is_no_sentence(tmp_path):
    rows = [f"Tell me number {k} please,the first of kinds" for k in range(6)]
    (tmp_path / "a.csv").write_text("said,about\n" + "\n".join(rows))
    assert read_things(tmp_path / "a.csv").texts[5] == "Tell me number 5 please"


def test_two_columns_of_sentences_must_be_told_apart(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("asked,answered\nWhere is it now?,In the post office.\nHow much is it?,Five.\n")
    assert read_things(path).texts[0] == "Where is it now?"  # half of the answers are one word
    path.write_text("asked,answered\nWhere is it now?,In the post.\nHow much is it?,Five or six.\n")
    with pytest.raises(DataError, match=r"'asked', 'answered' all hold sentences.*--text"):
        read_things(path)
    assert read_things(path, text="answered").texts[1] == "Five or six."


def test_a_list_of_sentences_without_a_heading_keeps_its_first(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Where is my new card?\nWhy was I charged?\nHow do I pay?\n")
    assert read_things(path).texts[0] == "Where is my new card?"


def test_empty_and_endless_texts_are_set_aside_by_their_row(tmp_path):
    path = tmp_path / "a.csv"
    endless = "so on and " * 12_000
    path.write_text(f"text,n\nOne two three.,1\n,2\nFour five six.,3\n{endless},4\n")
    things = read_things(path, text="text")
    assert things.names == ("0", "2")
    assert [name for name, _ in things.set_aside] == ["1", "3"]


def test_a_table_without_sentences_is_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("colour,weight,kind\nred,1.5,x\nblue,2,y\n")
    things = read_things(path, labels="kind")
    assert things.kind == "table"
    assert things.columns == ("colour", "weight")
    assert things.rows == (("red", "1.5"), ("blue", "2"))
    data = things.dataset(np.eye(2))
    assert data.describe(1) == [("colour", "blue"), ("weight", "2")]
    assert data.subset([1]).describe(0) == data.describe(1)


def test_words_of_any_script_and_broken_ones(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nwo ist meine Karte\n我的 卡 在 哪里\n")
    assert read_things(path).texts[1] == "我的 卡 在 哪里"
    path.write_bytes(b"text\nwo ist \xff meine Karte\nso nicht nein\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_things(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": "about"}, "labels must be 'folders' or one value per file"),
        ({"ids": "id"}, "ids must be one per file"),
        ({"text": "text"}, "text= names a column"),
    ],
)
def test_options_of_tables_are_refused_for_a_folder(tmp_path, options, words):
    put(tmp_path, a_png=picture(), b_png=picture())
    with pytest.raises(InputError, match=words):
        read_things(tmp_path, **options)


def test_other_files_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    with pytest.raises(DataError, match=r"ending in \.npy hold no photos"):
        read_things(tmp_path / "a.npy")


def test_things_need_what_they_are():
    with pytest.raises(InputError, match="need texts="):
        Things("text", paths=())
    with pytest.raises(InputError, match="kind must be one of"):
        Things("film", paths=())
    with pytest.raises(DataError, match="used for rows 0 and 1"):
        Things("text", names=("a", "a"), texts=("x", "y"))


def test_a_table_may_list_the_files_with_or_without_a_heading(tmp_path):
    for n in range(4):
        (tmp_path / "voices").mkdir(exist_ok=True)
        sound = Sound(np.full(800, 0.1 * (n + 1), dtype=np.float32), 8000)
        (tmp_path / "voices" / f"{n}.wav").write_bytes(as_wav(sound))
    lines = [f"voices/{n}.wav,{'ab'[n % 2]}" for n in range(4)]
    (tmp_path / "said.csv").write_text("file,speaker\n" + "\n".join(lines) + "\n")
    things = read_things(tmp_path / "said.csv", labels="speaker")
    assert (things.kind, things.names) == ("sound", ("0.wav", "1.wav", "2.wav", "3.wav"))
    assert things.class_names == ("a", "b")
    assert things.by_content
    whole = [str(tmp_path / "voices" / f"{n}.wav") for n in range(4)]
    (tmp_path / "list.txt").write_text("\n".join([*whole, "gone.wav"]) + "\n")
    listed = read_things(tmp_path / "list.txt")
    assert listed.paths == things.paths
    assert [name for name, _ in listed.set_aside] == ["gone.wav"]
    assert as_things(whole).paths == things.paths


def test_a_list_is_of_one_kind(tmp_path):
    assert as_things(["see photo.jpg", "a sentence"]).kind == "text"
    with pytest.raises(InputError, match="alone"):
        as_things(["a.jpg", "b.wav"])
    with pytest.raises(InputError, match="alone"):
        as_things(["a.jpg", tmp_path / "b.doc"])
    with pytest.raises(DataError, match="at least two"):
        as_things(["one"])
