from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from superpac.cli.data import app
from superpac.errors import DataError, InputError, NotFoundError


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *args: CliRunner().invoke(app, [str(a) for a in args])


def test_list_says_what_is_here(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_DATA", str(tmp_path))
    result = run("list")
    assert result.exit_code == 0
    lines = {line.split()[1]: line for line in result.output.splitlines() if line.startswith("│")}
    assert {"yaleb", "mnist", "mnist70k", "usps", "coil20", "coil100", "sonar"} <= set(lines)
    assert "2432" in lines["yaleb"]
    assert " no " in lines["yaleb"]
    assert " yes " in lines["digits"]
    assert str(tmp_path) in result.output


def test_show_gives_facts_and_a_picture(run, tmp_path):
    out = tmp_path / "picture.png"
    result = run("show", "digits", "--out", out)
    assert result.exit_code == 0
    assert "1797" in result.output
    assert "8 x 8" in result.output
    assert Image.open(out).size > (100, 100)


def test_show_of_a_table_with_labels(run, tmp_path):
    path = tmp_path / "[bold]t.csv"
    path.write_text("name,a,b,c\np,1,2,x\nq,3,4,y\n")
    result = run("show", path, "--labels", "c", "--ids", "name", "--out", tmp_path / "p.png")
    assert result.exit_code == 0
    assert "2, of 1 to 1 points" in result.output
    assert "[bold]t" in result.output
    plain = run("show", path)  # columns of text are shown, not compared
    assert plain.exit_code == 0
    assert "Shown only: name (text), c (text)" in plain.output


def test_show_of_an_image_folder_in_colour_and_size(run, tmp_path):
    for k in range(3):
        pixels = np.random.default_rng(k).integers(0, 256, (5 + k, 6, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{k}.png")
    assert "32 x 32 x 3" in run("show", tmp_path, "--colour").output  # sizes are reconciled
    assert "image" in run("show", tmp_path).output  # photos of several sizes, through an encoder
    result = run("show", tmp_path, "--size", "4x5", "--colour")
    assert "4 x 5 x 3" in result.output
    assert isinstance(run("show", tmp_path, "--size", "big").exception, InputError)


def test_import_then_show(run, tmp_path, monkeypatch):
    source, home = tmp_path / "source", tmp_path / "home"
    source.mkdir()
    lines = [",".join([f"{v:.4f}"] * 60 + ["MR"[k % 2]]) for k, v in enumerate(np.linspace(0, 1))]
    (source / "sonar.all-data").write_text("\n".join(lines))
    assert isinstance(run("import", "sonar", source, "--to", home).exception, DataError)
    result = run("import", "sonar", source, "--to", home, "--partial")
    assert result.exit_code == 0
    assert str(home / "sonar.npz") in result.output
    monkeypatch.setenv("SUPERPAC_DATA", str(home))
    assert "25 to 25 points" in run("show", "sonar").output
    assert isinstance(run("import", "nothing", source).exception, NotFoundError)


def test_draw_writes_a_folder_to_try_the_program_on(run, tmp_path):
    result = run("draw", tmp_path / "drawings", "--each", 1)
    assert result.exit_code == 0
    assert "16 drawings of 16 kinds" in result.output
    assert len(list((tmp_path / "drawings").glob("*.png"))) == 16
    assert isinstance(run("draw", tmp_path / "drawings").exception, InputError)
