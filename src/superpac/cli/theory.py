"""``superpac theory``: the paper's Theorem 1 and Corollary, checked by simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from superpac.research import theory as checks


def theory(
    plot: Annotated[Path, typer.Option(help="Write the picture here.")] = Path("theory.png"),
    samples: Annotated[int, typer.Option(min=100, help="Draws for each point.")] = 3000,
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
) -> None:
    """Check Theorem 1's bound on the margin and the Corollary's ordering, and draw them."""
    bound = checks.check_theorem(seed=seed)
    order = checks.check_corollary(seed=seed)
    checks.draw(plot, n_samples=samples, seed=seed)
    typer.echo(
        f"Theorem 1: {_verdict(bound.table, bound.holds)} The largest constant not contradicted is "
        f"about {bound.largest_c:.2g}."
    )
    typer.echo(
        f"Corollary: {_verdict(order.table, order.holds)} The near point had the smaller margin in "
        f"at least {100 * order.least_ordered:.0f}% of draws."
    )
    typer.echo(f"Written: {plot}")


def _verdict(table: pd.DataFrame, holds: bool) -> str:
    """Say in how many settings a bound holds, and in how many of them it promises anything."""
    telling = int((table["bound"] > 0).sum())
    return (
        f"{'holds' if holds else 'FAILS'} in {len(table)} settings with c = 1/2; the bound is "
        f"above zero, so that holding means something, in {telling} of them."
    )
