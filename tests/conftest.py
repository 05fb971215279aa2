"""Fixtures for everything: where the benchmark sets are, and how a missing one is reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder() -> Path | None:
    """Folder of benchmark files, or None where there is none."""
    named = os.environ.get("SUPERPAC_DATA")
    for folder in (Path(named) if named else None, SHARED):
        if folder is not None and folder.is_dir():
            return folder
    return None


def pytest_configure(config: pytest.Config) -> None:
    folder = data_folder()
    if folder is not None:
        os.environ["SUPERPAC_DATA"] = str(folder)


@pytest.fixture
def need_data():
    """Call with a file stem; skips the test by name when that benchmark file is not there."""

    def need(stem: str) -> Path:
        folder = data_folder()
        path = folder / f"{stem}.npz" if folder else None
        if path is None or not path.is_file():
            pytest.skip(f"benchmark file {stem}.npz not found; set SUPERPAC_DATA to its folder")
        return path

    return need
