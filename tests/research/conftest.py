"""A small figure on data that comes with scikit-learn, run once for all tests of this folder."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from superpac.research.figure_specs import FigureSpec, load_figure
from superpac.research.runner import run_figures

SMALL = """
name = "small"
title = "A small figure"
caption = "Three digits <b>of</b> twenty."
quick = { options = { refit = "warm" } }

[[panel]]
name = "three"
title = "Digits, K = 3"
data = "digits"
classes = 3
per_class = 20
affinity = "tsc:q=4"
dim = 3
questions = 25
trials = 3
quick = { trials = 2, questions = 10 }

[[panel]]
name = "four"
title = "Digits, K = 4"
data = "digits"
classes = 4
per_class = 15
affinity = "ensc:gamma=5"
dim = 3
questions = 15
trials = 2
lines = ["superpac", "superpac-wrong", "oracle-pca"]

[[line]]
name = "superpac"
label = "SUPERPAC"
options = { refit = "exact" }

[[line]]
name = "superpac-wrong"
strategy = "superpac"
wrong = 0.1

[[line]]
name = "random"

[[line]]
name = "oracle-pca"
kind = "oracle-pca"
"""


@pytest.fixture(scope="session")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figure") / "small.toml"
    path.write_text(textwrap.dedent(SMALL))
    return path


@pytest.fixture(scope="session")
def small(small_file: Path) -> FigureSpec:
    return load_figure(small_file)


@pytest.fixture(scope="session")
def finished(small: FigureSpec, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parquet file of a complete run of the small figure on this process alone."""
    return run_figures([small], tmp_path_factory.mktemp("finished"))
