"""Where answers are kept: a SQLite file by default, PostgreSQL by address.

A store holds sessions; a session has an append-only log with the contract that
`superpac.answers.log.Log` states. An answer is acknowledged only after it is synced.

A store written by an older superpac is never upgraded in passing: opening it raises a
`StoreError` that names the command (``superpac store upgrade``), which keeps a copy first.
"""

from __future__ import annotations

from superpac.store.failures import StoreFailure
from superpac.store.store import (
    SessionSummary,
    Store,
    new_info,
    open_store,
    upgrade_store,
    utc_now,
)
from superpac.store.stored_log import StoredLog

__all__ = [
    "SessionSummary",
    "Store",
    "StoreFailure",
    "StoredLog",
    "new_info",
    "open_store",
    "upgrade_store",
    "utc_now",
]
