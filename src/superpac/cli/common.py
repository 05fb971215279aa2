"""What several commands share: data options, progress on the terminal, JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from superpac.data import Dataset, load
from superpac.data.image_folder import parse_size
from superpac.session.spec import AUTO, DEFAULT_AFFINITY

DataArgument = Annotated[
    str, typer.Argument(metavar="DATA", help="A benchmark's name, a file, or an image folder.")
]
ClustersOption = Annotated[int, typer.Option("-k", "--clusters", min=1, help="Number of clusters.")]


def parse_clusters(text: str) -> int | str:
    """Read a number of clusters, or "auto"."""
    if text == AUTO:
        return AUTO
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise typer.BadParameter(f"{text!r} is neither a whole number from 1 on nor 'auto'.")
    return count


OpenClustersOption = Annotated[
    Any,
    typer.Option(
        "-k",
        "--clusters",
        parser=parse_clusters,
        metavar="K",
        help="Number of clusters, or auto to find it while asking.",
    ),
]
AffinityOption = Annotated[
    str,
    typer.Option(
        "--affinity", "-a", help="Method with parameters, such as tsc:q=5, or a file with a matrix."
    ),
]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", help="Column or array of true classes, for measuring.")
]
IdsOption = Annotated[str | None, typer.Option("--ids", help="Column or array of item names.")]
SizeOption = Annotated[
    str | None, typer.Option("--size", help="Resize images: HEIGHTxWIDTH or one number.")
]
ColourOption = Annotated[bool, typer.Option("--colour", help="Keep the colours of images.")]
StandardiseOption = Annotated[
    bool, typer.Option("--standardise", help="Scale columns to mean 0 and variance 1.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Same seed, same result.")]
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
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

__all__ = ["DEFAULT_AFFINITY"]


def read_data(
    what: str,
    *,
    labels: str | None = None,
    ids: str | None = None,
    size: str | None = None,
    colour: bool = False,
    standardise: bool = False,
) -> Dataset:
    """Load what the data options describe."""
    return load(
        what,
        labels=labels,
        ids=ids,
        size=None if size is None else parse_size(size),
        grey=not colour,
        standardise=standardise,
    )


def read_source(
    what: str,
    *,
    labels: str | None,
    ids: str | None,
    size: str | None,
    colour: bool,
    standardise: bool,
) -> tuple[Dataset, dict[str, str | bool]]:
    """Load what the data options describe, with what a session notes down to load it again."""
    items = read_data(
        what, labels=labels, ids=ids, size=size, colour=colour, standardise=standardise
    )
    where = str(Path(what).resolve()) if Path(what).exists() else what
    given = {"labels": labels, "ids": ids, "size": size}
    source: dict[str, str | bool] = {key: value for key, value in given.items() if value}
    source |= {key: True for key, on in (("colour", colour), ("standardise", standardise)) if on}
    return items, {"what": where, **source}


class Stages:
    """Named stages of a command: a bar for each on a terminal, and the seconds each took."""

    def __init__(self, quiet: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )

    def __enter__(self) -> Stages:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Any]:
        """Time one stage; gives a ``progress(done, total)`` that moves its bar."""
        task = self._bar.add_task(name, total=total)

        def progress(done: int, of: int) -> None:
            self._bar.update(task, completed=done, total=of)

        begun = time.perf_counter()
        yield progress
        self.seconds[name] = round(time.perf_counter() - begun, 4)
        self._bar.update(task, total=1, completed=1)
        self._bar.remove_task(task)


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
