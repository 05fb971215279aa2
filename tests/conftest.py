"""Fixtures for everything: where the benchmark sets are, and how a missing one is reported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from labelling import browser, label_server, page, strict_server  # noqa: F401 - fixtures
from postgres import PostgresServer

# The same examples in every run, so that a change is what makes a test fail. New ones, to look for
# faults nobody has met: HYPOTHESIS_PROFILE=explore python -m pytest -m hypothesis
# Nothing is timed: on a busy machine an example may take as long as it likes.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("steady", derandomize=True, **UNTIMED)
settings.register_profile("explore", derandomize=False, print_blob=True, **UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder() -> Path | None:
    """Folder of benchmark files, or None where there is none."""
    named = os.environ.get("SUPERPAC_DATA")
    for folder in (Path(named) if named else None, SHARED):
        if folder is not None and folder.is_dir():
            return folder
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fault-count",
        default=os.environ.get("SUPERPAC_FAULT_COUNT", ""),
        help="repetitions of each fault test: a number, or 'full' for the number each row names",
    )


def pytest_configure(config: pytest.Config) -> None:
    folder = data_folder()
    if folder is not None:
        os.environ["SUPERPAC_DATA"] = str(folder)
    # results kept on disk: none from before this run, and none of it left afterwards
    kept = tempfile.TemporaryDirectory(prefix="superpac-cache-")
    os.environ["SUPERPAC_CACHE"] = kept.name
    config.add_cleanup(kept.cleanup)
    # networks that a person fetched are not looked at, and none is left among them
    models = tempfile.TemporaryDirectory(prefix="superpac-models-")
    os.environ["SUPERPAC_MODELS"] = models.name
    config.add_cleanup(models.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a parallel run, keep on one worker what shares fixtures: a file, or the one page server.

    Tests that use that server see what the earlier ones answered, so their order must stay.
    """
    for item in items:
        shares = "label_server" in getattr(item, "fixturenames", ())
        group = "label_server" if shares else item.nodeid.split("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))


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


@pytest.fixture
def fault_count(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Call with (count of an ordinary run, count of the full run); --fault-count overrides."""
    wanted = request.config.getoption("--fault-count")

    def count(ordinary: int, full: int) -> int:
        if wanted == "full":
            return full
        return int(wanted) if wanted else ordinary

    return count


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Run one PostgreSQL server for all the tests that are not about a crash; it does not sync."""
    server = PostgresServer(fsync=False)
    yield server
    server.stop()


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a file system in memory where there is one: for tests not about disks."""
    shm = Path("/dev/shm")
    if not (shm.is_dir() and os.access(shm, os.W_OK)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="superpac-", dir=shm) as folder:
        yield Path(folder)
