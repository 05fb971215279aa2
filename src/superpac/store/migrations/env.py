"""Runs the migrations on the connection that `superpac.store.migrate` hands over."""

from __future__ import annotations

from alembic import context


def run() -> None:
    """Bring the database of the given connection to the wanted revision, in its transaction."""
    context.configure(
        connection=context.config.attributes["connection"],
        version_table=context.config.attributes["version_table"],
    )
    with context.begin_transaction():
        context.run_migrations()


# Alembic loads this file under the name "env_py"; any other import must not run it.
if __name__ == "env_py":
    run()
