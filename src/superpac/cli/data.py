"""``superpac data``: which benchmark sets are there, what a data set looks like, making some."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from superpac.cli import common
from superpac.system.optional import require

app = typer.Typer(
    help="List, look at, draw and import data.", add_completion=False, no_args_is_help=True
)


@app.command("list")
def list_() -> None:
    """List the benchmark sets, and which of them are here."""
    from rich.table import Table

    from superpac.data import available
    from superpac.data.benchmarks import data_folder

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
        table.add_row(*map(common.plain, (*row, mark, files)))
    common.say(table)
    common.say(f"Files are in {data_folder()}; SUPERPAC_DATA names another folder.")


@app.command()
def show(
    data: common.DataArgument,
    out: Annotated[
        Path | None,
        typer.Option(callback=common.check_file, help="Write a picture of some points here."),
    ] = None,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    colour: common.ColourOption = False,
    points: Annotated[
        int | None, typer.Option(min=1, max=400, help="Points in the picture.")
    ] = None,
    set_aside: Annotated[
        bool, typer.Option("--set-aside", help="Name every file that cannot be used, and why.")
    ] = False,
) -> None:
    """Show what a data set holds, and a picture of some of its points."""
    from rich.table import Table

    from superpac.data.overview import contact_sheet, facts, save_picture

    items = common.read_new(
        data, labels=labels, ids=ids, size=size, colour=colour, in_full=set_aside
    )
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts(items):
        table.add_row(common.plain(name, "dim"), common.plain(value))
    common.say(table)
    if out is not None:
        common.say(f"Picture: {save_picture(contact_sheet(items, points), out)}")


@app.command()
def draw(
    folder: Annotated[
        Path, typer.Argument(callback=common.check_folder, help="A new folder to write them to.")
    ],
    each: Annotated[int, typer.Option(min=1, max=1000, help="Drawings of each kind.")] = 15,
    by_kind: Annotated[
        bool, typer.Option("--by-kind", help="A folder for each kind: --labels folders measures.")
    ] = False,
) -> None:
    """Write a folder of drawings of cats, cars, cups and other things, to try the program on."""
    from superpac.data.drawings import KINDS, write_drawings

    written = write_drawings(folder, each, by_kind=by_kind)
    common.say(f"Wrote {written} drawings of {len(KINDS)} kinds to {folder}")


@app.command("import")
def import_(
    name: Annotated[str, typer.Argument(help="The benchmark, such as yaleb.")],
    source: Annotated[Path, typer.Argument(help="The original files, as downloaded.")],
    to: Annotated[Path | None, typer.Option(help="Folder to write to.")] = None,
    partial: Annotated[bool, typer.Option(help="Accept an original with rows missing.")] = False,
) -> None:
    """Make a benchmark's file from its original, so that it can be loaded by name."""
    require("research", "superpac data import")
    from superpac.research.originals import import_original

    for path in import_original(name, source, to, partial=partial):
        common.say(f"Wrote {path}")
