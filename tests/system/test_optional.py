"""A library that an extra brings is missing: every use of it says so in one sentence."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from command_line import superpac
from superpac.system.optional import EXTRAS, MissingLibraryError, require

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without(monkeypatch):
    """Call with libraries: importing one then fails as if it were not installed."""

    def hide(*libraries: str) -> None:
        for name in list(sys.modules):
            if name.partition(".")[0] in libraries or name.startswith("superpac.research"):
                monkeypatch.delitem(sys.modules, name)
        for library in libraries:
            monkeypatch.setitem(sys.modules, library, None)

    return hide


def install(extra: str) -> str:
    return f'pip install "superpac[{extra}]"'


def test_the_extras_are_those_of_the_package():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    assert set(extras) == set(EXTRAS)
    base = " ".join(declared["dependencies"])
    for libraries in EXTRAS.values():
        assert all(library not in base for library in libraries)


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_sentence_names_the_library_and_the_command(extra, without):
    require(extra, "This")
    without(EXTRAS[extra][0])
    with pytest.raises(MissingLibraryError, match=f"^This needs {EXTRAS[extra][0]}") as caught:
        require(extra, "This")
    assert str(caught.value).endswith(install(extra))


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("plots", ("cluster", "iris", "-k", 3, "--plot", "a.png")),
        ("plots", ("simulate", "iris", "--plot", "a.png")),
        ("hdf5", ("cluster", "points.h5", "-k", 2)),
        ("hdf5", ("cluster", "points.mat", "-k", 2)),
        ("tables", ("cluster", "points.parquet", "-k", 2)),
        ("tables", ("export", "points", "-o", "out.parquet")),
        ("postgres", ("sessions", "--store", "postgresql://nobody@localhost/nothing")),
        ("research", ("reproduce", "list")),
        ("research", ("theory", "--plot", "a.png")),
        ("research", ("data", "import", "sonar", ".")),
        ("dask", ("reproduce", "sonar", "--dask", "tcp://localhost:8786")),
    ],
)
def test_a_command_without_its_extra_is_one_sentence(extra, words, without, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ["points.h5", "points.mat", "points.parquet"]
    for name in files:
        Path(name).write_bytes(b"\0" * 512 + b"\x89HDF\r\n\x1a\n")
    without(*EXTRAS[extra])
    done = superpac(*words, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(install(extra))
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == files


BASE_ALONE = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
sys.path.insert(0, sys.argv[2])
from command_line import superpac
folder = sys.argv[3]
superpac("new", f"{folder}/points.csv", "-k", 2, "-a", "knn:k=5", "--name", "points")
for ending in ("csv", "jsonl", "zip"):
    superpac("export", "points", "-o", f"{folder}/out.{ending}")
superpac("cluster", f"{folder}/points.csv", "-k", 2, "-a", "knn:k=5", "-o", f"{folder}/c.csv")
import superpac.web.app
"""


def test_the_base_reads_clusters_writes_and_serves_without_any_extra(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERPAC_STORE", str(tmp_path / "store.sqlite3"))
    absent = {library for libraries in EXTRAS.values() for library in libraries}
    rng = np.random.default_rng(0)
    np.savetxt(tmp_path / "points.csv", rng.normal(size=(30, 4)), delimiter=",", header="a,b,c,d")
    words = [sys.executable, "-c", BASE_ALONE, ",".join(absent), str(ROOT / "tests/support")]
    done = subprocess.run([*words, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 31
