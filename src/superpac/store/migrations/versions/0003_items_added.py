"""Logs may say that items were added, which an older superpac would not understand."""

from __future__ import annotations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change no table: the number alone keeps a program away that does not know such events."""
