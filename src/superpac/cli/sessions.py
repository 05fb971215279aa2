"""``superpac new|ask|sessions|status|undo|export|import|verify|store``: sessions that are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superpac.cli import common, terminal
from superpac.errors import InputError, NotFoundError
from superpac.session import exports
from superpac.session.spec import AUTO, DEFAULT_AFFINITY, DEFAULT_STRATEGY, Spec

if TYPE_CHECKING:
    from superpac.data import Dataset
    from superpac.session.answer_book import AnswerBook
    from superpac.session.questions import Question
    from superpac.session.session import Session
    from superpac.store import Store


def store_address(given: str | None) -> str:
    """Where sessions are kept: the option, then SUPERPAC_STORE, then the user's data folder."""
    if given == "":
        raise InputError("--store is empty; name a file or an address, or leave the option out.")
    named = given or os.environ.get("SUPERPAC_STORE")
    if named:
        return named
    folder = data_folder()
    common.check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return str(folder / "sessions.sqlite3")


def data_folder() -> Path:
    """Where the program keeps what is the user's own."""
    import platformdirs

    return platformdirs.user_data_path("superpac")


@contextmanager
def opened(given: str | None, *, read_only: bool = False, create: bool = False) -> Iterator[Store]:
    """Open the store for one command."""
    address = store_address(given)
    # os.path raises nothing, whatever the name
    missing = "://" not in address and not os.path.exists(address)
    if missing and not create:
        raise NotFoundError(
            f"There are no sessions yet at {address}; begin one with: superpac new DATA."
        )
    from superpac.store import open_store

    with open_store(address, read_only=read_only, create=create) as store:
        yield store


def load_session(
    store: Store,
    name: str,
    data: Sequence[str] | None = None,
    *,
    growing: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Session:
    """Open a session; its data are read when first needed, with bars of what then takes long."""
    from superpac.answers.growth import grown
    from superpac.cache import DiskCache
    from superpac.session.item_names import remember
    from superpac.session.session import Session

    log = store.open(name)
    if progress is None:
        progress = common.opening_bars()

    def read() -> Dataset:
        info = grown(log.info, log.additions())
        return remember(common.read_items(info, data, growing=growing), info)

    return Session.open(read, log, progress=progress, cache=DiskCache())


def new(
    data: common.DataArgument,
    k: common.ClustersOption = AUTO,
    affinity: common.AffinityOption = DEFAULT_AFFINITY,
    strategy: common.StrategyOption = DEFAULT_STRATEGY,
    dim: common.DimOption = None,
    option: common.StrategyOptionsOption = None,
    name: common.NameOption = None,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    features: common.FeaturesOption = None,
    text: common.TextOption = None,
    show: common.ShowOption = None,
    colour: common.ColourOption = False,
    standardise: common.StandardiseOption = False,
    seed: common.SeedOption = 0,
    store: common.StoreOption = None,
    dask: common.DaskOption = None,
    device: common.DeviceOption = "auto",
) -> None:
    """Begin a session on DATA."""
    from superpac.cache import DiskCache
    from superpac.session.item_names import remember
    from superpac.session.session import Session

    common.use_device(device)

    common.check_dask(dask, affinity)
    items, source = common.read_source(
        data,
        labels=labels,
        ids=ids,
        size=size,
        colour=colour,
        standardise=standardise,
        features=features,
        text=text,
        show=show,
    )
    spec = Spec(k, affinity, strategy, common.parse_options(option), dim, seed)
    common.prepare_affinity(dask, items, spec)
    with (
        opened(store, create=True) as kept,
        common.OpeningBars() as progress,
    ):
        made = Session.create(
            items,
            spec,
            store=kept,
            name=name,
            source=source,
            progress=progress,
            cache=DiskCache(),
        )
        remember(items, made.log.info)
    common.say(f"Session {made.log.info.name!r} is ready: superpac ask {made.log.info.name}")


def ask(
    session: common.SessionArgument,
    data: common.MovedOption = None,
    annotator: common.AnnotatorOption = "",
    until: common.UntilOption = None,
    store: common.StoreOption = None,
) -> None:
    """Ask in the terminal: s same, d different, u unsure, k skip, z undo, q quit."""
    from rich.console import Console

    from superpac.session.stopping import in_words, parse_share, reached

    enough = None if until is None else parse_share(until)
    with opened(store) as kept:
        current = load_session(kept, session, data)
        ending = "Everything is settled."

        def next_question() -> Question | None:
            nonlocal ending
            if enough is not None:
                left = current.progress()["error_left"]
                if reached(left, enough, current.spec.strategy):
                    ending = f"Enough: {in_words(left)}."
                    return None
            return current.ask()

        finished = terminal.converse(
            current,
            next_question,
            current.tell,
            console=Console(),
            annotator=annotator,
            heading=lambda: f"[{current.state.n_answers} answered]",
            go_on=f"superpac ask {session}",
            skipping=True,
        )
        if finished:
            common.say(ending)


def sessions(store: common.StoreOption = None) -> None:
    """List the sessions that are kept."""
    from rich.table import Table

    table = Table("name", "items", "clusters", "strategy", "answers", "begun")
    with opened(store, read_only=True) as kept:
        for found in kept.sessions():
            info = found.info
            cells = (
                info.name,
                str(found.now.n_items),
                str(info.spec.get("n_clusters", "")),
                str(info.spec.get("strategy", "")),
                str(found.answers),
                info.created_at[:16].replace("T", " "),
            )
            table.add_row(*map(common.plain, cells))
    common.say(table)


def status(
    session: common.SessionArgument,
    model: Annotated[
        bool,
        typer.Option(
            "--model",
            help="Build the model too: error left, how sure the number of clusters is, who errs.",
        ),
    ] = False,
    data: common.MovedOption = None,
    store: common.StoreOption = None,
    as_json: common.JsonOption = False,
) -> None:
    """Say how far a session is.

    Without --model everything is counted from the answers, at once on any data.
    """
    with opened(store, read_only=True) as kept:
        current = load_session(kept, session, data)
        found = {"session": current.log.info.name, **current.progress(model=model)}
        if model:
            found["people"] = _people(current)
    if not model:
        for figure in ("clusters_sure", "error_left"):
            del found[figure]
    if as_json:
        common.print_json(found)
        return
    if model:
        from superpac.session.stopping import in_words

        found["error_left"] = in_words(found["error_left"])
    people = found.pop("people", [])
    for key, value in found.items():
        common.say(f"{key.replace('_', ' '):<13} {'-' if value is None else value}")
    if people:
        from superpac.session.suspects import person_in_words

        for person in people:
            common.say(person_in_words(person["name"], person["answers"], person["wrong"]))
    if not model:
        common.say(f"How many items may be wrong: superpac status {session} --model", "dim")


def _people(current: Session) -> list[dict[str, Any]]:
    """Who has answered how much, and the share of it estimated to be wrong."""
    from superpac.session.suspects import people_of

    found = people_of(current.state, current.strategy.reliability(current.state))
    return [
        {"name": name, "answers": count, "wrong": round(rate, 4)}
        for name, (count, rate) in found.items()
    ]


def undo(
    session: common.SessionArgument,
    seq: Annotated[int | None, typer.Option("--seq", min=1, help="A particular answer.")] = None,
    redo: Annotated[bool, typer.Option("--redo", help="Put back what was undone last.")] = False,
    data: common.MovedOption = None,
    store: common.StoreOption = None,
) -> None:
    """Take back the last answer, or put it back."""
    with opened(store) as kept:
        current = load_session(kept, session, data)
        done = current.redo() if redo else current.undo(seq)
    words = "Put back" if redo else "Took back"
    common.say(f"{words} #{', #'.join(map(str, done))}." if done else "There is nothing to do.")


def export(
    session: common.SessionArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; - is standard output.")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"{', '.join((*exports.FORMATS, *exports.FOLDERS, exports.SIDECARS))} or archive; "
            "by default what the ending says.",
        ),
    ] = None,
    data: common.MovedOption = None,
    store: common.StoreOption = None,
) -> None:
    """Write clusters, answers or the whole session to a file."""
    if form is None and output.suffix == ".zip":
        form = "archive"
    if form != "archive":
        form = exports.check_form(output, form)
    folder = form in (*exports.FOLDERS, exports.SIDECARS)
    common.check_folder(output) if folder else common.check_file(output)
    with opened(store, read_only=True) as kept:
        if form == "archive":
            kept.export_archive(session, output)
        else:
            exports.export(load_session(kept, session, data), output, form)
    common.say(f"Written: {output}", stderr=common.is_standard_output(output))


def known(
    session: common.SessionArgument,
    what: Annotated[
        str,
        typer.Argument(
            metavar="LABELS",
            help="A table of names and labels, or of two names and same or different; links as "
            "JSON; or folders: files are labelled by the folder they lie in.",
        ),
    ],
    annotator: common.AnnotatorOption = "known",
    data: common.MovedOption = None,
    store: common.StoreOption = None,
) -> None:
    """Take in labels or links that are known already, as answers; one undo takes them back."""
    with opened(store) as kept:
        take_in(load_session(kept, session, data), what, annotator or "known")


def take_in(current: AnswerBook, what: str, annotator: str = "known") -> None:
    """Take known labels into a session and say what became of them."""
    from superpac.session.known_labels import read_known, take_known

    called = current.state.names or range(current.info.n_items)
    names = [str(called[item]) for item in range(current.info.n_items)]
    found = read_known(what, names)
    taken = take_known(current, found, annotator)
    if taken.answers or taken.named:
        words = f"Taken in from {what}: answers: {taken.answers}, names of groups: {taken.named}"
    else:
        words = f"Nothing in {what} is new to {current.info.name!r}"
    if found.unknown:
        more = f" and {len(found.unknown) - 3} more" if len(found.unknown) > 3 else ""
        words += f"; not among the items: {', '.join(found.unknown[:3])}{more}"
    common.say(f"{words}.", stderr=True)


def import_(
    archive: Annotated[Path, typer.Argument(help="An archive made by superpac export.")],
    name: Annotated[str | None, typer.Option(help="Another name for it.")] = None,
    store: common.StoreOption = None,
) -> None:
    """Bring in a session from an archive; its log arrives bit for bit."""
    with opened(store, create=True) as kept:
        log = kept.import_archive(archive, name=name)
        common.say(f"Session {log.info.name!r} is here with {log.head()[0]} events.")


def verify(session: common.SessionArgument, store: common.StoreOption = None) -> None:
    """Check a session's log, event by event."""
    with opened(store, read_only=True) as kept:
        count, digest = kept.verify(session)
    common.say(f"{count} events, none changed, missing or added; the log ends in {digest[:16]}.")


store_tools = typer.Typer(add_completion=False, no_args_is_help=True)


@store_tools.callback()
def _about() -> None:
    """The file or database that sessions are kept in."""


@store_tools.command()
def upgrade(
    place: Annotated[
        str | None, typer.Argument(metavar="STORE", help="The same as --store, in short.")
    ] = None,
    store: common.StoreOption = None,
) -> None:
    """Bring a store made by an older version up to date."""
    from superpac.store import upgrade_store

    if place is not None and store is not None and place != store:
        raise InputError(f"Two stores are named, {place} and {store}; name one.")
    saved = upgrade_store(store_address(store if place is None else place))
    common.say("Up to date." if saved is None else f"Upgraded; the old one is kept as {saved}.")


@store_tools.command()
def backup(
    store: Annotated[
        str | None,
        typer.Argument(
            metavar="STORE",
            help="File or PostgreSQL address; by default SUPERPAC_STORE or your own file.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder for it; by default backups, beside the file."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=1, help="How many to keep here, the new one included."),
    ] = None,
) -> None:
    """Copy the store while it is in use, read the copy back, and remove old ones if told to."""
    from superpac.store import backup_store

    made = backup_store(store_address(store), to, keep=keep)
    events = sum(kept.events for kept in made.sessions)
    common.say(f"Written and read back: {made.path}")
    common.say(f"Sessions: {len(made.sessions)}, events: {events}.")
    for path in made.removed:
        common.say(f"Removed, since the new one holds all of it: {path}")
    for path in made.spared:
        common.say(f"Kept, since it is damaged or holds what the new one does not: {path}")


@store_tools.command()
def restore(
    backup: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="A file made by superpac store backup.")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="File or PostgreSQL address; by default SUPERPAC_STORE or your own file."
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Move the file that is there aside, under another name."),
    ] = False,
) -> None:
    """Read a backup from end to end and bring back what it holds."""
    from superpac.store import restore_store

    sessions, aside = restore_store(backup, store_address(to), replace=replace)
    if aside is not None:
        common.say(f"What was there is now {aside}")
    for session in sessions:
        more = f", {session.beyond} more are there since" if session.beyond else ""
        common.say(f"{session.name}: {session.added} events brought back{more}.")
    common.say("Restored." if sessions else "Restored; the backup holds no session.")
