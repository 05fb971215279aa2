"""``superpac theory``: the paper's Theorem 1 and Corollary, checked by simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from superpac import theory as checks


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
        f"Theorem 1: {'holds' if bound.holds else 'FAILS'} in {len(bound.table)} settings with "
        f"c = 1/2; the largest constant not contradicted is about {bound.largest_c:.2g}."
    )
    typer.echo(
        f"Corollary: {'holds' if order.holds else 'FAILS'} in {len(order.table)} settings; the "
        f"near point had the smaller margin in at least {100 * order.least_ordered:.0f}% of draws."
    )
    typer.echo(f"Written: {plot}")
