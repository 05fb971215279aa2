"""What tests keep to: they lie where their module's name leads, and they look at no clock.

tests/graph/test_spectral.py is about src/superpac/graph/spectral.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import superpac

SOURCE = Path(superpac.__file__).parent
TESTS = Path(__file__).parent

# Tests of what no single module does.
OF_SEVERAL = {
    "affinity/test_contract.py": "the contract of every affinity",
    "cli/test_commands.py": "every command, as people use it",
    "cli/test_imports.py": "what each command imports",
    "data/test_fuzz.py": "broken files of every format",
    "session/test_one_fold.py": "all readers of a log agree",
    "session/test_opening_progress.py": "bars of what comes before the first question",
    "session/test_reopening.py": "going on from what is on disk",
    "store/test_contract.py": "the contract of every store",
    "store/test_store.py": "both back ends",
    "store/test_upgrade.py": "stores and archives of earlier releases",
    "strategies/superpac_d/test_beliefs.py": "how sure the default strategy is",
    "strategies/superpac_d/test_confirmed_answers.py": "answers that wait for a second one",
    "strategies/superpac_d/test_devices.py": "the default strategy on either device",
    "strategies/superpac_d/test_undo.py": "the default strategy through a session",
    "strategies/superpac_d/test_unknown_count.py": "the number of clusters left open",
    "strategies/test_contract.py": "the contract of every strategy",
    "test_conventions.py": "what tests keep to",
    "test_examples.py": "the scripts in examples/",
    "test_faults_list.py": "the list of faults survived",
    "test_house.py": "the house plan",
    "web/test_same_questions.py": "the page asks what a simulation asks",
    "web/test_static.py": "the page's scripts",
    "web/test_weighed_answers.py": "contradictions on the page",
}
FOLDERS_OF_THEIR_OWN = ("browser", "faults", "support")

NAMED = {
    path.relative_to(SOURCE).with_name(f"test_{path.stem}.py").as_posix()
    for path in SOURCE.rglob("*")
    if path.is_dir() or path.suffix == ".py"
}
FILES = sorted(
    path.relative_to(TESTS).as_posix()
    for path in TESTS.rglob("test_*.py")
    if path.relative_to(TESTS).parts[0] not in FOLDERS_OF_THEIR_OWN
)


@pytest.mark.parametrize("file", FILES)
def test_every_test_file_is_named_for_a_module(file):
    assert file in NAMED | set(OF_SEVERAL), (
        f"there is no src/superpac/{file.replace('test_', '', 1)}: name the file for the module "
        "that it tests, or say in OF_SEVERAL what it is about"
    )


def test_the_list_names_nothing_that_is_gone():
    assert set(OF_SEVERAL) <= set(FILES)


@pytest.mark.parametrize("clock", ["process_time", "thread_time", "perf_counter", "deadline="])
def test_nothing_is_timed(clock):
    """A busy machine would fail it; benchmarks/limits.py measures what has a limit."""
    found = [p for p in TESTS.rglob("*.py") if clock in p.read_text() and p != Path(__file__)]
    assert not found


def test_contributing_names_files_that_exist():
    text = (TESTS.parent / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.-]+\.\w+)`", text)
    assert len(named) > 10
    for path in named:
        assert (TESTS.parent / path).exists(), path
