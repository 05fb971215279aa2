"""The command line: ``superpac --help`` lists what it can do."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console

from superpac.cli import data
from superpac.cli.audit import audit
from superpac.cli.cluster import cluster
from superpac.cli.label import label
from superpac.cli.reproduce import reproduce
from superpac.cli.sessions import register as register_sessions
from superpac.cli.simulate import simulate
from superpac.cli.suspects import suspects
from superpac.cli.theory import theory
from superpac.errors import SuperpacError

app = typer.Typer(
    help="Clustering with as few human answers as possible.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data.app, name="data")
app.command()(cluster)
app.command()(simulate)
app.command()(theory)
register_sessions(app)
app.command()(audit)
app.command()(suspects)
app.command()(label)
app.command()(reproduce)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"superpac {version('superpac')}")
        raise typer.Exit


@app.callback()
def top(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Clustering with as few human answers as possible."""


def main() -> None:
    """Run the command line; a user's mistake is one sentence on standard error and exit code 2."""
    try:
        app()
    except SuperpacError as error:
        Console(stderr=True).print(str(error), style="bold red", markup=False, highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        Console(stderr=True).print("Stopped.")
        sys.exit(130)
