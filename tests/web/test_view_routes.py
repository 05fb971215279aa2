"""Exports on the page: what this installation cannot write is not offered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from labelling import LabelServer, digits_file

# A Python without pyarrow, as the base installation is.
WITHOUT_PYARROW = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


PLACES = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []


def test_parquet_is_not_offered_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_PYARROW)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *PLACES]))
    server = LabelServer(tmp_path, digits_file(tmp_path))
    try:
        with server.wait_ready().client() as client:
            formats = client.get("/api/session").json()["formats"]
            assert "parquet" not in formats
            for form in formats:
                assert client.get(f"/api/export/{form}").status_code == 200
            refused = client.get("/api/export/parquet")
            assert refused.status_code == 422
            assert refused.json()["detail"].endswith('pip install "superpac[tables]"')
    finally:
        server.stop()
