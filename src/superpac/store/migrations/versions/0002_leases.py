"""Leases: one pair before one annotator at a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; leases run out, so unlike events they may be changed and removed."""
    op.create_table(
        "superpac_leases",
        sa.Column("session_id", sa.Text, sa.ForeignKey("superpac_sessions.id"), primary_key=True),
        sa.Column("i", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("j", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("annotator", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Float(53), nullable=False),
        sa.Column("ttl", sa.Float(53), nullable=False),
        sqlite_with_rowid=False,
    )
