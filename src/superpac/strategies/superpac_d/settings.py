"""Every number of SUPERPAC-D in one place; `docs/method.md` shows them as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _is(value: Any, meaning: str) -> Any:
    """Give a field its value and what it means."""
    return field(default=value, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """Numbers of SUPERPAC-D. One choice serves all data; change one with ``replace``.

    What a field means, with its unit, is in ``metadata["meaning"]`` of ``dataclasses.fields``. What
    only guards a division or a logarithm against zero is not here.

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(Settings(), pieces=1.0).pieces
    1.0
    """

    # the start
    pieces: float = _is(2.0, "starting sets per cluster")

    # how much of a point each set has by diffusion
    solve_tolerance: float = _is(1e-6, "residual of a diffusion solve over its right-hand side")
    solve_tolerance_large: float = _is(1e-5, "the same where there are more points than `refresh`")
    mass_rounds: int = _is(2, "times that masses of sets follow from the points they would hold")
    mass_power: float = _is(0.5, "exponent of those points: 0 gives one mass for all, 1 the points")
    mass_least: float = _is(0.05, "least mass of a set found late, before that; others have 1")
    mass_extra: float = _is(1.0, "points that every set is taken to hold in addition")
    diffusion_floor: float = _is(1e-4, "least share that a set has of a point by diffusion")

    # the residual to each set's subspace
    residual_power: float = _is(2.0, "exponent of the ratio of residuals in the subspace score")
    residual_near: float = _is(0.1, "added to that ratio: a residual near 0 is no proof")
    residual_typical_least: float = _is(1e-3, "least median residual, as a share of squared length")
    leverage_most: float = _is(0.95, "largest leverage that a member's residual is corrected for")
    leave_out_exactly: int = _is(2, "times the dimension: up to here members are left out exactly")
    single_precision: int = _is(10_000_000, "numbers in the data beyond which 32 bits are read")

    # the kernel vote
    landmarks: int = _is(1000, "points that the kernel is approximated by, at most")
    kernel_neighbour: int = _is(7, "neighbour whose squared distance, at the median, is the width")
    kernel_jitter: float = _is(1e-6, "added to the diagonal of the landmarks' kernel matrix")
    kernel_block: int = _is(16_384, "points of which the kernel is computed at a time")
    ridge: float = _is(0.1, "penalty of the kernel ridge regression")
    own_vote_most: float = _is(0.999, "largest weight of a point's own label in its fit")
    kernel_sum_anew: int = _is(200, "changes of a set beyond which its sum is taken anew")
    kernel_keep: int = _is(
        200_000_000, "bytes of the kernel's factor that are kept on disk, at most"
    )
    vote_floor: float = _is(0.02, "least share that a set has of a point by the kernel vote")

    # views that follow the answers
    refresh: int = _is(20_000, "points times columns that a view refreshes per answer")
    refresh_columns: int = _is(2, "columns refreshed at least; 1 with more points than `refresh`")

    # the weights of the views
    weights_prior: tuple[float, float, float] = _is(
        (1.0, 1.0, 0.5), "weights of diffusion, subspaces and kernel before any answer"
    )
    weights_strength: float = _is(3.0, "how many placed points this counts for")
    weights_least: float = _is(0.02, "least weight of a view")
    weights_every: int = _is(5, "placed points after which weights are fitted again")
    weights_recent: int = _is(300, "placed points that they are fitted to, the latest")
    weights_steps: int = _is(12, "Newton steps at most")
    weights_step_most: float = _is(1.0, "largest change of a weight in a step")
    weights_tolerance: float = _is(1e-3, "change of a weight below which the fit ends")

    # which sets are one cluster
    mutual_diffusion: float = _is(0.9, "weight of diffusion in mutual claims, beside the posterior")
    mutual_floor: float = _is(1e-6, "added to the posterior in mutual claims")
    small_group: float = _is(
        0.25, "of a mean cluster: a smaller group beyond K takes another's label"
    )
    label_near: float = _is(
        0.95,
        "K unknown: a set that claims a label's points as the label's own set does is part of it",
    )
    small_set: float = _is(0.1, "of a mean cluster: questions about a smaller set can wait")
    duplicates_least: float = _is(0.3, "least share of sets taken for duplicates of others")
    duplicates_most: float = _is(0.9, "largest such share")
    duplicates_excess: float = _is(1.5, "such share, as a multiple of the share of sets beyond K")
    duplicates_small: float = _is(0.98, "such share among small sets, with more sets than K")

    # questions about two sets
    merge_chance: float = _is(0.07, "two sets this likely to be one are asked about")
    merge_odds: float = _is(
        0.1, "K unknown: odds that two groups are one where walks go as by chance"
    )
    merge_odds_assumed: float = _is(3.0, "the same for two sets that are taken for one group")
    merge_far: float = _is(
        20.0, "K unknown: groups of the usual size of which one is a part of another cluster"
    )
    merge_like: float = _is(
        1.0,
        "K unknown: logarithm of how many times likelier a deviation of likeness makes which one",
    )
    like_coordinates: int = _is(32, "principal coordinates in which sets are alike")
    like_shrunk: float = _is(0.1, "of their mean variance, added to that of each")
    merge_worth: float = _is(1.0, "K unknown: points that such a question is expected to mend")
    merge_worth_least: float = _is(0.01, "the same where no point is in more doubt than that")
    merge_candidates: int = _is(50, "pairs of sets looked at for a question")

    # questions about a point
    walk_steps: int = _is(3, "steps of a walk within which an answer tells about other points")
    point_candidates: int = _is(20, "points looked at before sets that can wait are settled")
    point_candidates_most: int = _is(400, "points ranked at all, for many people at once")
    far_every: int = _is(10, "K unknown: after so many placed points a far one is asked about")
    far_every_missing: int = _is(2, "the same while there are fewer sets than K")
    belief_even: float = _is(0.05, "part of the belief in a point's sets that is spread evenly")
    new_chance: float = _is(0.05, "least chance that a point is in no known set")
    new_weight: float = _is(0.5, "weight of that chance beside the belief in known sets")
    give_up_chance: float = _is(0.15, "a point that no set is this likely for is left")
    give_up_after: int = _is(2, "sets that a point differs from before it may be left")
    speakers: int = _is(3, "members that may speak for a set, those it claims most")

    # answers asked again
    doubt_chance: float = _is(0.2, "a placement this likely to be wrong is asked again")
    doubt_points: float = _is(1.0, "points; a merge expected to misplace more is checked")
    doubt_merges_every: int = _is(
        2, "answers from one doubt of all merges to the next, sets missing"
    )
    rest: int = _is(2, "other answers before the same pair is asked again")

    # checkpoints for taking answers back
    checkpoint_bytes: int = _is(2**28, "bytes that checkpoints may take")
    checkpoint_spacing: int = _is(4, "least age of a checkpoint over the distance to the next")
    checkpoint_behind: int = _is(10, "answers that the checkpoint kept on disk is behind, at least")


DEFAULT = Settings()
