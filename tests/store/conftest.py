"""One log of each kind, for the tests of the contract."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from superpac.answers.log import Log, MemoryLog
from superpac.store import Store, new_info, open_store


class Clock:
    """A clock that tests set by hand."""

    def __init__(self) -> None:
        self.reset()

    def __call__(self) -> datetime:
        return self.now

    def reset(self) -> None:
        self.now = datetime(2024, 3, 31, 0, 59, tzinfo=UTC)

    def move(self, **delta: float) -> None:
        self.now += timedelta(**delta)


_CLOCK = Clock()


@pytest.fixture
def clock() -> Clock:
    _CLOCK.reset()
    return _CLOCK


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, memory_folder: Path) -> str:
    """Address of a place where there is no store yet."""
    if request.param == "sqlite":
        return str(memory_folder / "answers.sqlite3")
    return request.getfixturevalue("postgres_server").database()


@pytest.fixture
def store(store_url: str, clock: Clock) -> Iterator[Store]:
    with open_store(store_url, clock=clock) as opened:
        yield opened


@pytest.fixture(scope="session", params=["memory", "sqlite", "postgres"])
def shared_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store | None]:
    """Return one store for all the tests of the contract, None for the log in memory."""
    if request.param == "memory":
        yield None
        return
    url = (
        str(tmp_path_factory.mktemp("store") / "answers.sqlite3")
        if request.param == "sqlite"
        else request.getfixturevalue("postgres_server").database()
    )
    with open_store(url, clock=_CLOCK) as opened:
        yield opened


@pytest.fixture
def new_log(shared_store: Store | None, clock: Clock) -> Callable[..., Log]:
    """Return a function that makes an empty log: in memory, in SQLite and in PostgreSQL."""

    def make(n_items: int = 1000) -> Log:
        name = f"digits {secrets.token_hex(8)}"
        info = new_info(name, fingerprint="f00d", n_items=n_items, spec={"k": 10}, clock=clock)
        return MemoryLog(info, clock) if shared_store is None else shared_store.create(info)

    return make


@pytest.fixture
def log(new_log: Callable[..., Log]) -> Log:
    return new_log()
