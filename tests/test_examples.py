"""Every script in examples/ runs, here with small settings, and tells how it ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SMALL = {
    "ask_and_tell": ("--questions 6 --per-class 10", "counted, against the truth:"),
    "machine_annotator": ("--questions 30 --per-class 12", "of the pictures."),
    "noisy_people": ("--questions 40 --per-class 15", "of the pictures are in a wrong cluster"),
    "own_affinity": ("--questions 6 --texts 10", "After 6 answers,"),
    "sklearn_pipeline": ("--questions 6 --points 90", "With 6 answers:"),
}


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SMALL)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_it_runs_and_says_how_it_ended(name, tmp_path):
    settings, said = SMALL[name]
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *settings.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert said in ran.stdout.splitlines()[-1]
