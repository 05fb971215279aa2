"""Where answers are kept: a SQLite file by default, PostgreSQL by address.

A store holds sessions; a session has an append-only log with the contract that
`superpac.answers.log.Log` states. An answer is acknowledged only after it is synced.

A store written by an older superpac is never upgraded in passing: opening it raises a
`StoreError` that names the command (``superpac store upgrade``), which keeps a copy first.
`backup_store` copies a store that is in use, `restore_store` brings it back.
"""

from __future__ import annotations

from superpac.store.backup import Backup, backup_store
from superpac.store.failures import StoreFailure
from superpac.store.restore import Restored, restore_store
from superpac.store.store import (
    SessionSummary,
    Store,
    new_info,
    open_store,
    upgrade_store,
    utc_now,
)
from superpac.store.stored_log import StoredLog
from superpac.store.verification import KeptSession, verify_store

__all__ = [
    "Backup",
    "KeptSession",
    "Restored",
    "SessionSummary",
    "Store",
    "StoreFailure",
    "StoredLog",
    "backup_store",
    "new_info",
    "open_store",
    "restore_store",
    "upgrade_store",
    "utc_now",
    "verify_store",
]
