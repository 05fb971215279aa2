"""The answers log: sessions and their events, which nobody can rewrite."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_IDENTITY = ("id", "created_at", "fingerprint", "n_items", "spec", "format")


def upgrade() -> None:
    """Create the tables and the triggers that keep history as it was written."""
    op.create_table(
        "superpac_sessions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("n_items", sa.BigInteger, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.Column("last_hash", sa.Text, nullable=False),
    )
    op.create_table(
        "superpac_events",
        sa.Column("session_id", sa.Text, sa.ForeignKey("superpac_sessions.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("annotator", sa.Text, nullable=False),
        sa.Column("client_key", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("elapsed_ms", sa.BigInteger),
        sa.Column("hash", sa.Text, nullable=False),
        sa.UniqueConstraint("session_id", "client_key", name="superpac_events_key"),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "sqlite":
        _sqlite_triggers()
    else:
        _postgres_triggers()


def _sqlite_triggers() -> None:
    op.execute(f"PRAGMA application_id = {0x53504143}")
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER superpac_events_{verb.lower()} BEFORE {verb} ON superpac_events "
            "BEGIN SELECT RAISE(ABORT, 'superpac: events are never changed or removed'); END"
        )
    # INSERT OR REPLACE removes rows without firing a DELETE trigger, so numbering is checked here.
    op.execute(
        "CREATE TRIGGER superpac_events_insert BEFORE INSERT ON superpac_events "
        "WHEN NEW.seq IS NOT 1 + (SELECT coalesce(max(seq), 0) FROM superpac_events "
        "WHERE session_id = NEW.session_id) OR EXISTS (SELECT 1 FROM superpac_events "
        "WHERE session_id = NEW.session_id AND client_key = NEW.client_key) "
        "BEGIN SELECT RAISE(ABORT, 'superpac: events are added at the end only'); END"
    )
    changed = " OR ".join(f"NEW.{c} IS NOT OLD.{c}" for c in _IDENTITY)
    op.execute(
        "CREATE TRIGGER superpac_sessions_update BEFORE UPDATE ON superpac_sessions "
        f"WHEN {changed} OR NEW.last_seq < OLD.last_seq "
        "BEGIN SELECT RAISE(ABORT, 'superpac: a session is never rewritten'); END"
    )
    op.execute(
        "CREATE TRIGGER superpac_sessions_delete BEFORE DELETE ON superpac_sessions "
        "BEGIN SELECT RAISE(ABORT, 'superpac: sessions are never removed'); END"
    )


def _postgres_triggers() -> None:
    op.execute(
        "CREATE FUNCTION superpac_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'superpac: events and sessions are never changed or removed'; END $$"
    )
    op.execute(
        "CREATE FUNCTION superpac_at_the_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM superpac_events "
        "WHERE session_id = NEW.session_id) THEN "
        "RAISE EXCEPTION 'superpac: events are added at the end only'; END IF; "
        "RETURN NEW; END $$"
    )
    op.execute(
        "CREATE TRIGGER superpac_events_change BEFORE UPDATE OR DELETE ON superpac_events "
        "FOR EACH ROW EXECUTE FUNCTION superpac_refuse()"
    )
    op.execute(
        "CREATE TRIGGER superpac_events_insert BEFORE INSERT ON superpac_events "
        "FOR EACH ROW EXECUTE FUNCTION superpac_at_the_end()"
    )
    changed = " OR ".join(f"NEW.{c} IS DISTINCT FROM OLD.{c}" for c in _IDENTITY)
    op.execute(
        "CREATE TRIGGER superpac_sessions_update BEFORE UPDATE ON superpac_sessions "
        f"FOR EACH ROW WHEN ({changed} OR NEW.last_seq < OLD.last_seq) "
        "EXECUTE FUNCTION superpac_refuse()"
    )
    op.execute(
        "CREATE TRIGGER superpac_sessions_delete BEFORE DELETE ON superpac_sessions "
        "FOR EACH ROW EXECUTE FUNCTION superpac_refuse()"
    )
    for table in ("superpac_events", "superpac_sessions"):
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION superpac_refuse()"
        )
