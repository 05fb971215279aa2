"""Figures and page come from the Parquet file alone, and look as they should."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from PIL import Image
from typer import Typer
from typer.testing import CliRunner

from made_results import good
from superpac.cli.reproduce import reproduce
from superpac.errors import DataError, InputError, NotFoundError
from superpac.research.claims import judge
from superpac.research.figure_plots import draw_figure, style_of
from superpac.research.figure_specs import figure_names, load_figure
from superpac.research.report import costs, summary, write_report
from superpac.research.results import read_results


class Words(HTMLParser):
    """Text and tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.words.append(data)


def test_report_from_parquet_alone(finished, tmp_path):
    copy = shutil.copy(finished, tmp_path / "moved.parquet")
    # Another process, another place, no benchmark folder: nothing but the file can be read.
    environment = {**os.environ, "SUPERPAC_DATA": str(tmp_path / "nowhere")}
    code = f"from superpac.research.report import write_report; write_report({str(copy)!r})"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    page = Words((tmp_path / "report.html").read_text())
    text = " ".join(page.words)
    assert "A small figure" in text
    assert "SUPERPAC" in text
    assert all(f"C{k}" in page.words for k in range(1, 11))
    assert "b" not in page.tags[page.tags.index("figure") :]  # the caption's <b> is text, not a tag
    assert "<b>of</b>" in text
    assert page.tags.count("img") == 1
    with Image.open(tmp_path / "figures" / "small.png") as picture:
        assert picture.width > 800
    drawing = ElementTree.parse(tmp_path / "figures" / "small.svg")
    words = "".join(drawing.getroot().itertext())
    assert "Digits, K = 3" in words
    assert "pairwise comparisons" in words


def test_the_same_results_give_the_same_files(finished, tmp_path):
    results = read_results(finished)
    layout = results.meta["figures"][0]
    first = [p.read_bytes() for p in draw_figure(results, layout, tmp_path / "a")]
    second = [p.read_bytes() for p in draw_figure(results, layout, tmp_path / "b")]
    assert first == second


def test_every_figure_of_a_full_report(tmp_path):
    results = good(tmp_path)
    page = write_report(tmp_path / "results.parquet")
    text = page.read_text()
    assert "10 reproduced" in text
    spent = {c["name"]: c for c in costs(results)}
    assert spent["usps"]["trials"] == 3
    assert spent["usps"]["stopped"] == 1
    assert spent["usps"]["minutes"] == pytest.approx(2.5)
    planned = len(load_figure("usps").tasks())
    assert spent["usps"]["counted"] == f"3 of {planned}"
    assert f"3 of {planned} trials" in text
    assert all(
        f"<b>{claim.title}.</b>" in text for claim in judge(results) if "'" not in claim.title
    )
    for name in ("yale_mnist_many", "coil", "usps"):
        assert (tmp_path / "figures" / f"{name}.svg").is_file()
    assert not (tmp_path / "figures" / "theory.svg").exists()
    usps = next(f for f in results.meta["figures"] if f["name"] == "usps")
    rows = {(r["panel"], r["method"]): r for r in summary(results, usps)}
    assert rows["USPS, d = 9", "URASC-N"]["got"] == "900 (stopped)"
    assert rows["USPS, d = 9", "SUPERPAC"]["to"][2] == "1800"


@pytest.mark.parametrize("name", figure_names())
def test_lines_of_a_panel_look_different(name):
    layout = load_figure(name).to_dict()
    styles = style_of(layout)
    for panel in layout["panels"]:
        shown = [n for n in styles if not panel["lines"] or n in panel["lines"]]
        looks = {tuple(sorted(styles[n].items())) for n in shown}
        assert len(looks) == len(shown)


def test_a_foreign_file_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="run superpac reproduce"):
        read_results(tmp_path / "none.parquet")
    (tmp_path / "odd.parquet").write_text("hello")
    with pytest.raises(DataError, match="not a result"):
        read_results(tmp_path / "odd.parquet")


@pytest.fixture
def command():
    app = Typer()
    app.command()(reproduce)
    return lambda *args: CliRunner().invoke(app, [str(a) for a in args])


def test_command_lists_and_refuses(command):
    listed = command("list")
    assert listed.exit_code == 0
    assert all(name in listed.output for name in figure_names())
    assert isinstance(command("figure7").exception, InputError)


def test_command_draws_again(command, finished, tmp_path):
    shutil.copy(finished, tmp_path / "results.parquet")
    done = command("--draw-only", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "C1   not tested" in done.output
    assert (tmp_path / "report.html").is_file()
    assert (tmp_path / "claims.md").read_text().count("not tested |") == 10
    page = (tmp_path / "figures.md").read_text()
    assert "`superpac reproduce small`: 18 trials" in page
    assert "![A small figure](figures/small.png)" in page
    assert (tmp_path / "figures" / "small.png").is_file()
    assert "| Digits, K = 3 | SUPERPAC | 3 |" in page
    assert isinstance(command("--draw-only", "--out", tmp_path / "x").exception, InputError)


@pytest.mark.realdata
def test_command_runs_a_figure(command, need_data, tmp_path):
    need_data("sonar")
    done = command("sonar", "--quick", "--trials", 1, "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    table = read_results(tmp_path / "results.parquet").table
    assert {"superpac", "random"} <= set(table["method"])
    assert set(table["status"]) == {"done"}
