"""What several commands share: their options, reading data, progress and printing."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from superpac.errors import DataError, InputError
from superpac.session.spec import AUTO
from superpac.system import atomic_files
from superpac.system.atomic_files import stream_of
from superpac.system.progress import WHOLE
from superpac.system.safe_text import as_it_was, printable, well_formed

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from superpac.answers.events import SessionInfo
    from superpac.data import Dataset
    from superpac.session.spec import Spec
    from superpac.system.row_blocks import RowBlocks


def parse_clusters(text: str) -> int | str:
    """Read a number of clusters, or "auto"."""
    if text == AUTO:
        return AUTO
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise typer.BadParameter(f"{text[:40]!r} is neither a whole number from 1 on nor 'auto'.")
    return count


def check_folder(path: Path | None) -> Path | None:
    """Refuse a folder that cannot be made or written to, before the work begins."""
    if path is not None:
        try:
            there = next(p for p in (path.absolute(), *path.absolute().parents) if p.exists())
        except (OSError, ValueError) as error:
            raise InputError(f"{_short(path)} cannot be written ({_reason(error)}).") from error
        if not there.is_dir():
            raise InputError(f"{path} cannot be written: {there} is not a folder; name another.")
        if not os.access(there, os.W_OK | os.X_OK):
            raise InputError(f"{path} cannot be written: no permission in {there}; name another.")
    return path


def check_file(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before the work begins."""
    if path is not None and stream_of(path) is None:
        atomic_files.check_file(path)
        check_folder(path.parent)
        longest = os.pathconf("/", "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
        if len(os.fsencode(path.name)) > longest:
            raise InputError(f"{_short(path)} cannot be written: its name is too long; shorten it.")
    return path


def is_standard_output(path: Path | None) -> bool:
    """Whether a file to write is standard output, where nothing else should appear then."""
    return path is not None and stream_of(path) == atomic_files.STANDARD_OUTPUT


def check_annotator(name: str) -> str:
    """Refuse a name that no log can keep, before a question is put."""
    from superpac.answers.events import check_text

    return check_text("--as", name, 200) if name else name


def _short(text: object) -> str:
    """Beginning of a long text, on one line, as any terminal can show it."""
    return ascii(str(text))[1:-1][:80]


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def check_picture(path: Path | None) -> Path | None:
    """Refuse a picture that cannot be drawn or written, before the work begins."""
    if path is not None:
        if is_standard_output(path):
            raise InputError(f"{path}: a picture is not written to standard output; name a file.")
        from superpac.plots import check_format

        check_format(path)
    return check_file(path)


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A folder of photos or sounds, a table of texts or numbers, or a benchmark's name.",
    ),
]


def _clusters(words: str) -> Any:
    return typer.Option("-k", "--clusters", parser=parse_clusters, metavar="K", help=words)


ClustersOption = Annotated[Any, _clusters("Number of clusters, or auto: it is found while asking.")]
EstimatedClustersOption = Annotated[
    Any, _clusters("Number of clusters, or auto: it is estimated from the affinity.")
]
TrueClustersOption = Annotated[
    Any, _clusters("Number of clusters, by default that of the classes; auto: it is found.")
]
AffinityOption = Annotated[
    str,
    typer.Option(
        "--affinity",
        "-a",
        help="Method with parameters, such as tsc:q=5, or a file with a matrix; auto goes by what "
        "the items are.",
    ),
]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", help="Column or array of true classes, for measuring.")
]
IdsOption = Annotated[str | None, typer.Option("--ids", help="Column or array of item names.")]
SizeOption = Annotated[
    str | None, typer.Option("--size", help="Resize images: HEIGHTxWIDTH or one number.")
]
FeaturesOption = Annotated[
    str | None,
    typer.Option(
        "--features",
        help="What makes vectors of photos, texts or sounds (superpac features list), or a file "
        "with vectors; by default what they are decides.",
    ),
]
TextOption = Annotated[
    str | None, typer.Option("--text", help="Column of a table that holds texts to encode.")
]
ColourOption = Annotated[bool, typer.Option("--colour", help="Keep the colours of images.")]
ShowOption = Annotated[
    list[str] | None,
    typer.Option("--show", help="Column of a table to show and not to compare rows by."),
]
StandardiseOption = Annotated[
    bool, typer.Option("--standardise", help="Scale columns to mean 0 and variance 1.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**31 - 1, help="Same seed, same result.")
]
JobsOption = Annotated[
    int, typer.Option("--jobs", min=1, max=1024, help="Trials at once on this machine.")
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Share the work among the workers of this Dask cluster."
    ),
]
DeviceOption = Annotated[
    str,
    typer.Option(
        "--device",
        help="What computes: cpu, cuda (a graphics processor; needs the extra gpu), or auto.",
    ),
]
UntilOption = Annotated[
    str | None,
    typer.Option(
        "--until", help="Stop when at most so many items are wrong, such as 1% (upper end)."
    ),
]
StrategyOption = Annotated[str, typer.Option("--strategy", help="Which questions are asked.")]
StrategyOptionsOption = Annotated[
    list[str] | None, typer.Option("--option", help="Option of the strategy, NAME=VALUE.")
]
DimOption = Annotated[
    int | None, typer.Option("--dim", "-d", min=1, help="Dimension of the subspaces.")
]
NameOption = Annotated[str | None, typer.Option("--name", help="What to call the session.")]
AnnotatorOption = Annotated[str, typer.Option("--as", callback=check_annotator, help="Your name.")]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="Its name or id.")]
MovedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--data", help="Where the data are now, if they have moved; once for each place of items."
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store", help="File or PostgreSQL address; by default SUPERPAC_STORE or your own file."
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", callback=check_picture, help="Write a picture of the result here."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def parse_options(pairs: list[str] | None) -> dict[str, Any]:
    """Turn ``NAME=VALUE`` texts into options of a strategy; numbers become numbers."""
    options: dict[str, Any] = {}
    for pair in pairs or ():
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise InputError(f"An option is written NAME=VALUE. Got {pair!r} instead.")
        for kind in (int, float):
            try:
                options[name] = kind(value)
                break
            except ValueError:
                continue
        else:
            options[name] = {"true": True, "false": False, "none": None}.get(value.lower(), value)
    return options


# options of read_data, and what their values are
DATA_OPTIONS = {
    **{"labels": str, "ids": str, "size": str, "colour": bool, "standardise": bool},
    **{"features": str, "text": str, "show": list},
}


def read_data(
    what: str,
    *,
    labels: str | None = None,
    ids: str | None = None,
    size: str | None = None,
    colour: bool = False,
    standardise: bool = False,
    features: str | None = None,
    text: str | None = None,
    show: Sequence[str] | None = None,
    fewest: int = 2,
    in_full: bool = False,
) -> Dataset:
    """Load what the data options describe; without an encoder, images are their pixels."""
    from superpac.cli import things
    from superpac.data import load
    from superpac.data.image_folder import parse_size

    if features or text:
        for option, value in {"size": size, "colour": colour, "standardise": standardise}.items():
            if value:
                raise InputError(f"--{option} is for pixels and tables; leave it out for vectors.")
        return things.read_items(
            what,
            features=features,
            text=text,
            labels=labels,
            ids=ids,
            fewest=fewest,
            in_full=in_full,
        )
    with things.told_at_the_end(what, in_full=in_full) as aside:
        return load(
            what,
            labels=labels,
            ids=ids,
            size=None if size is None else parse_size(size),
            grey=not colour,
            standardise=standardise,
            fewest=fewest,
            aside=aside,
            show=tuple(show or ()),
            tell=lambda words: say(words, stderr=True),
        )


# those that say what a photo, a sound or a text is as a point
SAYS_HOW = ("features", "text", "size", "colour", "standardise")


def read_new(what: str, **options: Any) -> Dataset:
    """Load data that no session has noted; where no option says how, what they are decides."""
    return _read_new(what, options)[0]


def _read_new(what: str, options: dict[str, Any]) -> tuple[Dataset, dict[str, Any]]:
    """Data that no session has noted, and the options to load the same again."""
    options = _with_ids(what, options)
    if any(options.get(name) for name in SAYS_HOW):
        options = _with_size(what, options)
        return read_data(what, **options), options
    from superpac.cli import things

    rest = {
        name: options[name] for name in ("labels", "ids", "show", "in_full") if options.get(name)
    }
    return things.read_items(what, **rest), options


def _with_ids(what: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with a column of numbers that only number the rows as their names."""
    from superpac.data.mixed_tables import id_column
    from superpac.data.things import TABLES

    path = Path(what)
    taken = any(options.get(name) for name in ("ids", "features", "text"))
    if taken or path.suffix.lower() not in TABLES or not os.path.isfile(what):
        return options
    try:
        found = id_column(path)
    except DataError:  # whoever reads the table says what is wrong
        return options
    if found is None or found in (options.get("labels"), *(options.get("show") or ())):
        return options
    say(
        f"The column {found!r} only numbers the rows: it names them and is not compared "
        f"(--ids names another, --show {found} shows it).",
        stderr=True,
    )
    return {**options, "ids": found}


def _with_size(what: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with a size for pixels where nobody named one and images have to be reduced."""
    if any(options.get(name) for name in ("size", "features", "text")) or not os.path.isdir(what):
        return options
    from superpac.data.image_folder import fitting_size

    size, why = fitting_size(Path(what))
    if size is None:
        return options
    named = "x".join(map(str, size))
    say(
        f"Images are reduced to {named} pixels, since they are {why}; --size says else.",
        stderr=True,
    )
    return {**options, "size": named}


def read_source(
    what: str, *, begun: SessionInfo | None = None, **options: Any
) -> tuple[Dataset, dict[str, str | bool]]:
    """Load data with what a session notes down to load it again; as one has that is there."""
    if begun is None:
        items, options = _read_new(what, options)
    else:
        recipe = begun.source if isinstance(begun.source, dict) else {}
        chosen = {
            part: recipe[part] for part in ("size", "ids") if isinstance(recipe.get(part), str)
        }
        options = {**options, **chosen}
        items = read_data(what, **{**options, "features": recipe.get("features")})
    given = {name: value for name, value in options.items() if value}
    if items.features:
        from superpac.cli import things

        given["features"] = things.noted(given.get("features") or items.features)
    return items, {"what": place_of(what), **given}


def place_of(what: str) -> str:
    """Where data are, as a session notes it down."""
    # os.path raises nothing, whatever the name
    return well_formed(str(Path(what).resolve()) if os.path.exists(what) else what)


def source_path(noted: str) -> str:
    """Path that `place_of` noted down; sessions of before have it as it is."""
    return noted if Path(noted).exists() else as_it_was(noted)


def options_of(info: SessionInfo) -> dict[str, Any]:
    """Data options that a session was begun with."""
    recipe = info.source if isinstance(info.source, dict) else {}
    # what an archive from elsewhere says is not trusted to be of the right kind
    options = {
        option: value
        for option, value in recipe.items()
        if isinstance(value, DATA_OPTIONS.get(option, ()))
    }
    if "features" in options:
        from superpac.cli import things

        things.check_trusted(str(options["features"]))
    return options


def read_items(
    info: SessionInfo, moved: Sequence[str] | None = None, *, growing: bool = False
) -> Dataset:
    """Load all items of a session, with what was added; see `superpac.session.adding`."""
    from superpac.session import adding
    from superpac.session.known_items import without_new

    options = options_of(info)
    scaled = options.pop("standardise", False)

    def read(place: str) -> Dataset:
        return read_data(place if moved else source_path(place), **options, fewest=1)

    found = adding.read_items(info, read, moved or (), growing=growing)
    found = found.standardised() if scaled else found
    return without_new(found, info) if growing else found


def read_places(info: SessionInfo, **options: Any) -> tuple[Dataset, dict[str, Dataset]]:
    """What is now in all places of a session, new things included, and what is in each of them."""
    from superpac.session import adding

    scaled = options.pop("standardise", False)
    found: dict[str, Dataset] = {}

    def read(place: str) -> Dataset:
        found[place] = read_data(source_path(place), **options, fewest=1)
        return found[place]

    pool = adding.read_items(info, read, growing=True)
    return pool.standardised() if scaled else pool, found


def use_device(name: str) -> None:
    """Have this command, and the processes that it starts, compute on a device; or say why not."""
    from superpac.device.choice import SETTING, choose_device

    choose_device(name)
    if name != "auto":
        os.environ[SETTING] = name


def check_dask(address: str | None, affinity: str | None = None) -> None:
    """Refuse a cluster that is not there, or a method that it is no use to, before the work."""
    if address is None:
        return
    from superpac.affinity.registry import make_affinity
    from superpac.session.problem import made_by_method
    from superpac.session.spec import AUTO as BY_THE_ITEMS
    from superpac.system.cluster import Cluster

    if affinity is not None and affinity != BY_THE_ITEMS:
        if not made_by_method(affinity):
            raise InputError(f"{affinity[:80]!r} is read from a file; leave --dask out.")
        make_affinity(affinity, 2).check_by_rows()
    Cluster(address).close()


@contextmanager
def work_on(address: str | None) -> Iterator[RowBlocks]:
    """Where rows are worked on: here, or on the cluster at an address."""
    from superpac.system.row_blocks import HERE

    if address is None:
        yield HERE
        return
    from superpac.system.cluster import Cluster

    with Cluster(address) as cluster:
        yield cluster


def prepare_affinity(address: str | None, items: Dataset, spec: Spec) -> None:
    """Have a cluster make the affinity of a session, and keep it where the session looks first."""
    if address is None:
        return
    from superpac.cache import DiskCache
    from superpac.session.problem import build_affinity

    cache = DiskCache()
    if cache.folder is None:
        raise InputError(
            "--dask keeps the affinity in the cache, which is off; set SUPERPAC_CACHE to a folder."
        )
    spec = spec.settled(items)
    with OpeningBars() as bars, work_on(address) as where:
        build_affinity(
            items,
            spec.affinity,
            spec.clusters,
            spec.seed,
            progress=bars,
            cache=cache,
            where=where,
        )


class Stages:
    """Named stages of a command: a bar for each on a terminal, and the seconds each took."""

    def __init__(self, quiet: bool = False) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            Task,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class RateColumn(ProgressColumn):
            """How many are done per second."""

            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed
                known = speed and task.total != WHOLE
                return Text(f"{speed:.3g} per second" if known else "", style="dim")

        class CountColumn(ProgressColumn):
            """How many of how many, or the share where nothing is counted."""

            def render(self, task: Task) -> Text:
                if task.total is None:
                    return Text("")
                if task.total == WHOLE:
                    return Text(f"{task.percentage:.0f}%")
                return Text(f"{task.completed:.0f}/{task.total:.0f}")

        self.seconds: dict[str, float] = {}
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            CountColumn(),
            RateColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )

    _outer: ClassVar[Stages | None] = None  # a terminal shows one display at a time

    def __enter__(self) -> Stages:
        if Stages._outer is None:
            Stages._outer = self
            self._bar.start()
        else:
            self._bar = Stages._outer._bar
        return self

    def __exit__(self, *error: object) -> None:
        if Stages._outer is self:
            Stages._outer = None
            self._bar.stop()

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[int, int], None]]:
        """Time one stage; gives a ``progress(done, total)`` that moves its bar."""
        task = self._bar.add_task(name, total=total)

        def progress(done: int, of: int) -> None:
            self._bar.update(task, completed=done, total=of)

        begun = time.perf_counter()
        yield progress
        self.seconds[name] = round(time.perf_counter() - begun, 4)
        self._bar.update(task, total=1, completed=1)
        self._bar.remove_task(task)


class OpeningBars:
    """Bars of the stages of an opening, one after the other: each is gone when it is at its end.

    Nothing is shown before the first stage and after the last, so a command may go on to print.
    """

    def __init__(self) -> None:
        self._shown = ExitStack()

    def __enter__(self) -> OpeningBars:
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.close()

    def __call__(self, done: int, total: int) -> None:
        """Ignore what belongs to no stage."""

    def stage(self, name: str) -> Callable[[int, int], None]:
        """Progress of one stage, which takes the place of the one before."""
        bar: Callable[[int, int], None] | None = None

        def progress(done: int, total: int) -> None:
            nonlocal bar
            if done >= total:
                self._shown.close()
                bar = None
                return
            if bar is None:
                self._shown.close()
                bar = self._shown.enter_context(self._shown.enter_context(Stages()).stage(name))
            bar(done, total)

        return progress


def opening_bars() -> OpeningBars:
    """Bars for a session that a command opens; they are gone when it ends, however it ends."""
    import click

    context = click.get_current_context(silent=True)
    return OpeningBars() if context is None else context.with_resource(OpeningBars())


def say(what: str | RenderableType, style: str = "", *, stderr: bool = False) -> None:
    """Print a line, or a table of `plain` cells; lines are not broken: a path can be copied."""
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, highlight=False)
    shown = printable(what) if isinstance(what, str) else what
    console.print(shown, style=style, soft_wrap=isinstance(what, str))


def plain(text: object, style: str = "") -> Text:
    """Text from data or people as a table or a panel takes it: a terminal obeys nothing in it."""
    from rich.text import Text

    return Text(printable(str(text)), style=style)


def print_json(value: Any) -> None:
    """Print one JSON object; NaN is not JSON and becomes null."""
    json.dump(_plain(value), sys.stdout, indent=2)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return str(value) if isinstance(value, Path) else value
