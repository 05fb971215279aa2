"""``superpac advise``: which affinity and dimension suit some data, from the data alone."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from superpac.cli import common
from superpac.research import advise as chooser


def advise(
    data: common.DataArgument,
    k: common.ClustersOption,
    sample: Annotated[int, typer.Option(min=20, help="Points looked at.")] = chooser.SAMPLE,
    labels: common.LabelsOption = None,
    ids: common.IdsOption = None,
    size: common.SizeOption = None,
    seed: common.SeedOption = 0,
    as_json: common.JsonOption = False,
) -> None:
    """Say whether a union of subspaces fits DATA, and which affinity and d; labels are not used.

    Every affinity clusters a sample. The one is chosen whose clusters are confirmed best: by
    subspaces fitted to the other half of the points or by the nearest neighbours, and by its graph.
    """
    items = common.read_data(data, labels=labels, ids=ids, size=size)
    with common.Stages(quiet=as_json) as stages, stages.stage("affinities") as progress:
        found = chooser.advise(items, k, sample=sample, seed=seed, progress=progress)
    command = f"superpac cluster {shlex.quote(data)} -k {k} --affinity {found.affinity}"
    command += " --standardise" if found.standardise else ""
    if as_json:
        plain = asdict(found)
        for row, candidate in zip(plain["candidates"], found.candidates, strict=True):
            row["score"] = candidate.score
        common.print_json({**plain, "command": command})
        return
    console = Console(highlight=False)
    console.print(f"{found.structure.capitalize()}", style="bold")
    console.print(f"affinity {found.affinity}, d = {found.dim}", markup=False)
    for reason in found.reasons:
        console.print(f"- {reason}", markup=False)
    heads = ("affinity", "score", "subspaces", "neighbours", "balance", "graph", "d")
    table = Table(*heads, box=None)
    for c in found.candidates:
        shares = (f"{100 * v:.0f}%" for v in (c.subspaces, c.neighbours, c.balance, c.modularity))
        table.add_row(c.affinity, f"{c.score:.2f}", *shares, str(c.dim))
    console.print(table)
    console.print(f"Try: {command}", markup=False, soft_wrap=True)
