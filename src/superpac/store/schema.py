"""The tables, as the newest migration leaves them. Migrations do not import this: they are frozen.

Bodies are kept as the canonical JSON text that was hashed, so a check needs no rewriting, and
indices are 64-bit.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    select,
)

SCHEMA = "0003"
"""Revision that this superpac reads and writes."""

VERSION_TABLE = "superpac_schema"

APPLICATION_ID = 0x53504143
"""Marks a SQLite file as ours ("SPAC"), in its header."""

metadata = MetaData()

sessions = Table(
    "superpac_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("n_items", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("format", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("last_hash", Text, nullable=False),
)

events = Table(
    "superpac_events",
    metadata,
    Column("session_id", Text, ForeignKey("superpac_sessions.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("annotator", Text, nullable=False),
    Column("client_key", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("elapsed_ms", BigInteger),
    Column("hash", Text, nullable=False),
    UniqueConstraint("session_id", "client_key", name="superpac_events_key"),
    sqlite_with_rowid=False,
)

leases = Table(
    "superpac_leases",
    metadata,
    Column("session_id", Text, ForeignKey("superpac_sessions.id"), primary_key=True),
    Column("i", BigInteger, primary_key=True, autoincrement=False),
    Column("j", BigInteger, primary_key=True, autoincrement=False),
    Column("annotator", Text, nullable=False),
    Column("expires_at", Float(53), nullable=False),
    Column("ttl", Float(53), nullable=False),
    sqlite_with_rowid=False,
)

Heads = dict[str, tuple[int, str]]
"""Where each session's log ends: its last (seq, hash), by the session's id."""


def read_heads(connection: Connection) -> Heads:
    """Where the logs end, as one transaction sees them."""
    query = select(sessions.c.id, sessions.c.last_seq, sessions.c.last_hash)
    return {session: (seq, last) for session, seq, last in connection.execute(query)}
