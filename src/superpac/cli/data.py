"""``superpac data``: which benchmark sets are there, what a data set looks like, importing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from superpac.data import Dataset, available, load
from superpac.data.benchmarks import data_folder
from superpac.data.image_folder import parse_size
from superpac.data.overview import contact_sheet, facts, save_picture
from superpac.research.originals import import_original

app = typer.Typer(help="List, look at and import data.", no_args_is_help=True)


@app.command("list")
def list_() -> None:
    """List the benchmark sets, and which of them are here."""
    table = Table(title="Benchmark sets", title_justify="left")
    for heading in ("name", "what"):
        table.add_column(heading, no_wrap=heading == "name")
    for heading in ("n", "K", "D"):
        table.add_column(heading, justify="right")
    table.add_column("here")
    table.add_column("file", overflow="fold")
    for listed in available():
        b = listed.benchmark
        row = (b.name, b.title, f"{b.n}", f"{b.n_classes}", f"{b.dim}")
        mark = "yes" if listed.present else "no"
        files = ", ".join(b.files) or listed.where
        table.add_row(*(Text(c) for c in (*row, mark, files)))
    console = Console()
    console.print(table)
    console.print(Text(f"Files are in {data_folder()}; SUPERPAC_DATA names another folder."))


@app.command()
def show(
    what: Annotated[str, typer.Argument(help="A benchmark's name, a file, or an image folder.")],
    out: Annotated[Path | None, typer.Option(help="Write a picture of some points here.")] = None,
    labels: Annotated[str | None, typer.Option(help="Column or array of true classes.")] = None,
    ids: Annotated[str | None, typer.Option(help="Column or array of the points' names.")] = None,
    size: Annotated[
        str | None, typer.Option(help="Resize images, HEIGHTxWIDTH or one number.")
    ] = None,
    colour: Annotated[bool, typer.Option(help="Keep the colours of images.")] = False,
    points: Annotated[
        int | None, typer.Option(min=1, max=400, help="Points in the picture.")
    ] = None,
) -> None:
    """Show what a data set holds, and a picture of some of its points."""
    data = load(
        what,
        labels=labels,
        ids=ids,
        size=None if size is None else parse_size(size),
        grey=not colour,
    )
    _print_facts(data)
    if out is not None:
        Console().print(Text(f"Picture: {save_picture(contact_sheet(data, points), out)}"))


def _print_facts(data: Dataset) -> None:
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts(data):
        table.add_row(Text(name, style="dim"), Text(value))
    Console().print(table)


@app.command("import")
def import_(
    name: Annotated[str, typer.Argument(help="The benchmark, such as yaleb.")],
    source: Annotated[Path, typer.Argument(help="The original files, as downloaded.")],
    to: Annotated[Path | None, typer.Option(help="Folder to write to.")] = None,
    partial: Annotated[bool, typer.Option(help="Accept an original with rows missing.")] = False,
) -> None:
    """Make a benchmark's file from its original, so that it can be loaded by name."""
    for path in import_original(name, source, to, partial=partial):
        Console().print(Text(f"Wrote {path}"), soft_wrap=True)
