"""The command line: ``superpac --help`` lists what it can do.

A command is imported when it is used: one that reads a log should not wait for compilers to load.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from superpac.errors import SuperpacError
from superpac.system.safe_text import printable

# name -> where it is, as module:function, and the first line of its help
COMMANDS = {
    "cluster": ("cluster:cluster", "Cluster DATA from an affinity, without asking anybody."),
    "label": ("label:label", "Answer questions about DATA in the browser; run it again to go on."),
    "new": ("sessions:new", "Begin a session on DATA."),
    "add": (
        "add:add",
        "Let new items of MORE into SESSION; every answer stands, and what is in doubt is asked.",
    ),
    "ask": (
        "sessions:ask",
        "Ask in the terminal: s same, d different, u unsure, k skip, z undo, q quit.",
    ),
    "answer": (
        "answer:answer",
        "Let a function of yours answer SESSION's questions, as one more annotator.",
    ),
    "sessions": ("sessions:sessions", "List the sessions that are kept."),
    "status": ("sessions:status", "Say how far a session is."),
    "undo": ("sessions:undo", "Take back the last answer, or put it back."),
    "audit": (
        "audit:audit",
        "Ask about a random sample: how many items are in a wrong cluster, with a 95% interval.",
    ),
    "suspects": (
        "suspects:suspects",
        "List answers that contradict each other or do not fit, and what to take back.",
    ),
    "export": ("sessions:export", "Write clusters, answers or the whole session to a file."),
    "known": (
        "sessions:known",
        "Take in labels or links that are known already, as answers; one undo takes them back.",
    ),
    "import": (
        "sessions:import_",
        "Bring in a session from an archive; its log arrives bit for bit.",
    ),
    "verify": ("sessions:verify", "Check a session's log, event by event."),
    "store": ("sessions:store_tools", "The file or database that sessions are kept in."),
    "data": ("data:app", "List, look at, draw and import data."),
    "features": (
        "features:app",
        "List encoders for photos, texts and voices, and fetch their networks.",
    ),
    "simulate": (
        "simulate:simulate",
        "Answer DATA's questions from its true classes and report the error after each.",
    ),
    "reproduce": (
        "reproduce:reproduce",
        "Run the paper's experiments again, judge its ten claims and write a report.",
    ),
    "theory": (
        "theory:theory",
        "Check Theorem 1's bound on the margin and the Corollary's ordering, and draw them.",
    ),
}


@contextmanager
def _shown_plainly() -> Iterator[None]:
    """Escape what a wrong word on the command line holds: the shell may have put a file name in."""
    try:
        yield
    except Exception as error:
        if isinstance(words := getattr(error, "message", None), str):
            error.message = printable(words)  # type: ignore[attr-defined]
        raise


class Commands(TyperGroup):
    """Lists the commands from the table, and imports the one that is to run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, words) in COMMANDS.items():
            self.add_command(TyperCommand(name, help=words))

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the options that stand before a command."""
        with _shown_plainly():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        with _shown_plainly():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is named first."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if found and name else None, rest


def load_command(name: str) -> Any:
    """Import a command and build what parses its options."""
    module, attribute = COMMANDS[name][0].split(":")
    target = getattr(import_module(f"superpac.cli.{module}"), attribute)
    if not isinstance(target, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(target)
        target = alone
    command = typer.main.get_command(target)
    command.name = name
    return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

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
        from superpac.cli.common import say

        say(str(error), "bold red", stderr=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(130)
