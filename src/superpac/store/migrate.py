"""The schema's version: checked on every open, changed only when asked.

A store of an older schema is not upgraded silently, because another superpac may be using it
and a file may be the only copy: opening it says which command to run. `superpac store upgrade`
keeps a copy of a SQLite file beside it first, and runs in one transaction on either back end.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from sqlalchemy import Connection, inspect, text

from superpac.store.failures import StoreFailure
from superpac.store.schema import SCHEMA, VERSION_TABLE


def current(connection: Connection) -> str | None:
    """Return the revision that the database is at; None where there is no superpac schema."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # nosec B608
    return None if found is None else str(found)


def check(connection: Connection, where: str) -> None:
    """Raise `StoreFailure`, naming the command to run, unless the schema is this superpac's."""
    found = current(connection)
    if found == SCHEMA:
        return
    if found is None:
        raise StoreFailure(
            f"{where} holds no superpac tables; "
            f"make them with: superpac store upgrade --store {quote(where)}"
        )
    if found < SCHEMA:
        raise StoreFailure(
            f"{where} has schema {found} and this superpac needs {SCHEMA}; "
            f"upgrade it with: superpac store upgrade --store {quote(where)}"
        )
    raise StoreFailure(
        f"{where} has schema {found}, written by a newer superpac than this one, which knows "
        f"{SCHEMA}; install the newer one with: pip install -U superpac"
    )


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations inside the connection's transaction."""
    # Alembic takes a while to import and most opens do not need it.
    from alembic import command
    from alembic.config import Config

    folder = Path(__file__).with_name("migrations")
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes.update(connection=connection, version_table=VERSION_TABLE)
    command.upgrade(config, revision)
