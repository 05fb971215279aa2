"""``superpac theory``: the paper's Theorem 1 and Corollary, checked by simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from superpac.cli import common
from superpac.system.optional import require

if TYPE_CHECKING:
    import pandas as pd


def theory(
    plot: Annotated[Path, typer.Option(help="Write the picture here.")] = Path("theory.png"),
    samples: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="Draws for each point.")
    ] = 3000,
    seed: common.SeedOption = 0,
) -> None:
    """Check Theorem 1's bound on the margin and the Corollary's ordering, and draw them."""
    require("research", "superpac theory")
    common.check_picture(plot)
    from superpac.research import theory as checks

    bound = checks.check_theorem(seed=seed)
    order = checks.check_corollary(seed=seed)
    checks.draw(plot, n_samples=samples, seed=seed)
    common.say(
        f"Theorem 1: {_verdict(bound.table, bound.holds)} The largest constant not contradicted is "
        f"about {bound.largest_c:.2g}."
    )
    common.say(
        f"Corollary: {_verdict(order.table, order.holds)} The near point had the smaller margin in "
        f"at least {100 * order.least_ordered:.0f}% of draws."
    )
    common.say(f"Written: {plot}")


def _verdict(table: pd.DataFrame, holds: bool) -> str:
    """Say in how many settings a bound holds, and in how many of them it promises anything."""
    telling = int((table["bound"] > 0).sum())
    return (
        f"{'holds' if holds else 'FAILS'} in {len(table)} settings with c = 1/2; the bound is "
        f"above zero, so that holding means something, in {telling} of them."
    )
