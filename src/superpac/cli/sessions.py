"""``superpac new|ask|sessions|status|undo|export|import|verify|store``: sessions that are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import platformdirs
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from superpac.cli import common, terminal
from superpac.cli.simulate import parse_options
from superpac.data import Dataset
from superpac.errors import InputError, NotFoundError
from superpac.session import exports
from superpac.session.session import Session
from superpac.session.spec import DEFAULT_STRATEGY, Spec
from superpac.session.stopping import in_words, parse_share, reached
from superpac.store import Store, open_store, upgrade_store

StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="File or PostgreSQL address [default: SUPERPAC_STORE or yours]."),
]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="Its name or id.")]
DataOption = Annotated[
    str | None, typer.Option("--data", help="Where the data are now, if they have moved.")
]


def store_address(given: str | None) -> str:
    """Where sessions are kept: the option, then SUPERPAC_STORE, then the user's data folder."""
    named = given or os.environ.get("SUPERPAC_STORE")
    if named:
        return named
    folder = platformdirs.user_data_path("superpac")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return str(folder / "sessions.sqlite3")


@contextmanager
def opened(given: str | None, *, read_only: bool = False, create: bool = False) -> Iterator[Store]:
    """Open the store for one command."""
    address = store_address(given)
    missing = "://" not in address and not Path(address).exists()
    if missing and not create:
        raise NotFoundError(
            f"There are no sessions yet at {address}; begin one with: superpac new DATA -k K."
        )
    with open_store(address, read_only=read_only, create=create) as store:
        yield store


def load_session(store: Store, name: str, data: str | None = None) -> Session:
    """Open a session together with its data."""
    log = store.open(name)
    source = log.info.source
    recipe = dict(source) if isinstance(source, dict) else {"what": source}
    if data is not None:
        recipe["what"] = data
    if not recipe.get("what"):
        raise InputError(f"Where are the data of {name!r}? Say it with --data.")
    what = recipe.pop("what")
    return Session.open(common.read_data(what, **recipe), log)


def new(
    data: common.DataArgument,
    k: common.OpenClustersOption,
    affinity: common.AffinityOption = common.DEFAULT_AFFINITY,
    strategy: common.StrategyOption = DEFAULT_STRATEGY,
    dim: common.DimOption = None,
    option: common.StrategyOptionsOption = None,
    name: common.NameOption = None,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    colour: common.ColourOption = False,
    standardise: common.StandardiseOption = False,
    seed: common.SeedOption = 0,
    store: StoreOption = None,
) -> None:
    """Begin a session on DATA."""
    items, source = common.read_source(
        data, labels=labels, ids=ids, size=size, colour=colour, standardise=standardise
    )
    spec = Spec(k, affinity, strategy, parse_options(option or []), dim, seed)
    with opened(store, create=True) as kept:
        session = _create(kept, items, spec, name, source)
        typer.echo(
            f"Session {session.log.info.name!r} is ready: superpac ask {session.log.info.name}"
        )


def _create(
    store: Store, items: Dataset, spec: Spec, name: str | None, source: dict[str, str | bool]
) -> Session:
    with common.Stages() as stages, stages.stage("affinity") as progress:
        return Session.create(items, spec, store=store, name=name, source=source, progress=progress)


def ask(
    session: SessionArgument,
    data: DataOption = None,
    annotator: Annotated[str, typer.Option("--as", help="Your name.")] = "",
    until: common.UntilOption = None,
    store: StoreOption = None,
) -> None:
    """Ask in the terminal: s same, d different, u unsure, k skip, z undo, q quit."""
    console = Console()
    enough = None if until is None else parse_share(until)
    with opened(store) as kept:
        current = load_session(kept, session, data)
        while True:
            done = current.progress()
            if enough is not None and reached(done["error_left"], enough, current.spec.strategy):
                console.print(f"Enough: {in_words(done['error_left'])}.", soft_wrap=True)
                return
            question = current.ask()
            if question is None:
                console.print("Everything is settled.")
                return
            prompt = f"[{done['questions']} answered] same/different/unsure/skip/undo/quit: "
            key = terminal.put(
                current,
                question,
                prompt,
                console,
                tell=current.tell,
                annotator=annotator,
                others="k",
            )
            if key == "k":
                current.skip((question.i, question.j), annotator=annotator)
            elif key == "q":
                console.print(f"Kept. Go on with: superpac ask {session}")
                return


def sessions(store: StoreOption = None) -> None:
    """List the sessions that are kept."""
    with opened(store, read_only=True) as kept:
        table = Table(title=None)
        for heading in ("name", "items", "clusters", "strategy", "answers", "begun"):
            table.add_column(heading)
        for found in kept.sessions():
            info = found.info
            cells = (
                info.name,
                str(info.n_items),
                str(info.spec.get("n_clusters", "")),
                str(info.spec.get("strategy", "")),
                str(found.answers),
                info.created_at[:16].replace("T", " "),
            )
            table.add_row(*(Text(c) for c in cells))
        Console().print(table)


def status(
    session: SessionArgument,
    data: DataOption = None,
    store: StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Say how far a session is."""
    with opened(store, read_only=True) as kept:
        current = load_session(kept, session, data)
        found = {"session": current.log.info.name, **current.progress()}
        if as_json:
            common.print_json(found)
            return
        found["error_left"] = in_words(found["error_left"])
        for key, value in found.items():
            typer.echo(f"{key.replace('_', ' '):<12} {'-' if value is None else value}")


def undo(
    session: SessionArgument,
    seq: Annotated[int | None, typer.Option("--seq", min=1, help="A particular answer.")] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Put back what was undone last.")] = False,
    data: DataOption = None,
    store: StoreOption = None,
) -> None:
    """Take back the last answer, or put it back."""
    with opened(store) as kept:
        current = load_session(kept, session, data)
        done = current.redo() if redo else current.undo(seq)
        words = "Put back" if redo else "Took back"
        typer.echo(f"{words} #{', #'.join(map(str, done))}." if done else "There is nothing to do.")


def export(
    session: SessionArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"{', '.join(exports.FORMATS)} or archive [default: ending]."
        ),
    ] = None,
    data: DataOption = None,
    store: StoreOption = None,
) -> None:
    """Write clusters, answers or the whole session to a file."""
    with opened(store, read_only=True) as kept:
        if form == "archive" or (form is None and output.suffix == ".zip"):
            kept.export_archive(session, output)
        else:
            exports.export(load_session(kept, session, data), output, form)
    typer.echo(f"Written: {output}")


def import_(
    archive: Annotated[Path, typer.Argument(help="An archive made by superpac export.")],
    name: Annotated[str | None, typer.Option(help="Another name for it.")] = None,
    store: StoreOption = None,
) -> None:
    """Bring in a session from an archive; its log arrives bit for bit."""
    with opened(store, create=True) as kept:
        log = kept.import_archive(archive, name=name)
        typer.echo(f"Session {log.info.name!r} is here with {log.head()[0]} events.")


def verify(session: SessionArgument, store: StoreOption = None) -> None:
    """Check a session's log, event by event."""
    with opened(store, read_only=True) as kept:
        count, digest = kept.verify(session)
        typer.echo(
            f"{count} events, none changed, missing or added; the log ends in {digest[:16]}."
        )


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    for command in (new, ask, sessions, status, undo, export, verify):
        app.command()(command)
    app.command("import")(import_)
    tools = typer.Typer(
        help="The file or database that sessions are kept in.", no_args_is_help=True
    )

    @tools.command()
    def upgrade(store: StoreOption = None) -> None:
        """Bring a store made by an older version up to date."""
        saved = upgrade_store(store_address(store))
        typer.echo("Up to date." if saved is None else f"Upgraded; the old one is kept as {saved}.")

    @tools.callback()
    def about() -> None:
        """Look after the place where sessions are kept."""

    app.add_typer(tools, name="store")
