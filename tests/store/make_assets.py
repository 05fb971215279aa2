"""Makes the frozen stores and archives that later versions must go on reading.

Run once for each new schema or archive version (``python tests/store/make_assets.py``) and commit
what it adds. It never replaces a file: the old ones are what earlier releases wrote.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import create_engine

from superpac.answers.log import Draft, MemoryLog, SessionInfo
from superpac.store import archive, migrate
from superpac.store.schema import SCHEMA
from superpac.store.schema import events as events_table
from superpac.store.store import _ADD
from superpac.store.stored_log import event_rows, session_row

ASSETS = Path(__file__).with_name("assets")
INFO = SessionInfo(
    "0123456789abcdef",
    "frozen",
    "2024-05-01T12:00:00.000Z",
    "sha256:f00d",
    50,
    {"path": "digits.npz"},
    {"k": 3, "affinity": "tsc:q=5", "seed": 0},
)


def fill(log: MemoryLog) -> None:
    kinds = ("same", "different", "unsure")
    for n in range(30):
        body = {"i": n, "j": (7 * n + 3) % 50, "answer": kinds[n % 3]}
        log.append("answer", body, annotator="Zoë", key=f"key-{n}", elapsed_ms=900 + n)
    log.append("retract", {"seq": 4}, key="undo")
    log.append("restore", {"seq": 31}, key="redo")
    log.append("skip", {"i": 1, "j": 2}, key="skip")
    log.append("bad", {"i": 9}, key="bad")
    log.append("name", {"cluster": 1, "name": "küken"}, key="name")
    strip = [
        Draft("answer", {"i": 40, "j": j, "answer": "different", "group": "g"}, "Zoë", f"s{j}")
        for j in (41, 42, 43)
    ]
    log.append_many(strip)


def main() -> None:
    moment = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    log = MemoryLog(INFO, clock)
    fill(log)
    ASSETS.mkdir(exist_ok=True)
    for revision in [f"{n:04d}" for n in range(1, int(SCHEMA) + 1)]:
        path = ASSETS / f"schema-{revision}.sqlite3"
        if path.exists():
            continue
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            migrate.upgrade(connection, revision)
            connection.execute(_ADD, session_row(log.info, *log.head()))
            connection.execute(events_table.insert(), event_rows(INFO.id, log.events()))
        engine.dispose()
    path = ASSETS / f"archive-{archive.VERSION}.zip"
    if not path.exists():
        archive.write(path, log.info, log.events(), overwrite=False)


if __name__ == "__main__":
    main()
