"""Claims C4 to C10: the complete sets, Explore, the oracles and the theory."""

from __future__ import annotations

import numpy as np

from superpac.research import statistics as st
from superpac.research.claims import TITLES, Check, Claim, check_at_most, missing
from superpac.research.results import Results, stack
from superpac.research.statistics import FloatArray

FLIP = 0.03  # a rise of three points from one question to the next


def yale_full(results: Results) -> Claim:
    """C4: Yale 38 with SSC-OMP."""
    curves = {
        name: results.curves("yaleFull", "yale38", name)
        for name in ("superpac", "urasc-n", "random")
    }
    checks = []
    what = "URASC-N less random, mean error over the questions both got to"
    paper = "roughly the same (within 5 points)"
    if curves["urasc-n"].size and curves["random"].size:
        gap, upto = _gap(curves["urasc-n"], curves["random"])
        told = f"{_points(gap)} over {upto} questions"
        checks.append(Check(what, paper, told, gap.within(-0.05, 0.05)))
    else:
        checks.append(missing(what, paper))
    what, paper = "SUPERPAC less URASC-N, the same", "significantly better (10 points or more)"
    if curves["superpac"].size and curves["urasc-n"].size:
        gap, upto = _gap(curves["superpac"], curves["urasc-n"])
        told = f"{_points(gap)} over {upto} questions"
        holds = gap.within(high=-0.10)
        known = curves["superpac"][:, : int(st.answered(curves["superpac"]).min()) + 1]
        halved = st.questions_to(known.mean(axis=0)[None, :], known[:, 0].mean() / 2)[0]
        cut = _cut_short(results, "yaleFull", "yale38", "urasc-n")
        if holds is False and cut and upto < halved:
            holds = None
            told += ", where SUPERPAC has not halved its error yet"
        checks.append(Check(what, paper, told, holds))
    else:
        checks.append(missing(what, paper))
    why = []
    what, paper = "SUPERPAC, least error", "reaches 0% (at most 0.5%)"
    mine = curves["superpac"]
    if mine.size:
        least, got = st.mean_of(np.nanmin(mine, axis=1)), int(st.answered(mine).max())
        holds = least.within(high=0.005)
        if holds is False and _cut_short(results, "yaleFull", "yale38"):
            holds = None
        checks.append(Check(what, paper, f"{least.text()} within {got} questions", holds))
        if holds is None and _cut_short(results, "yaleFull", "yale38"):
            why.append(f"SUPERPAC was stopped by the time allowed after {got} questions.")
    else:
        checks.append(missing(what, paper))
    words = (
        "URASC performs roughly the same as random query selection, while SUPERPAC performs "
        "significantly better. [...] We also achieve 0% classification error on the full Yale [...]"
    )
    return Claim("C4", words, tuple(checks), tuple(why))


def flips(results: Results) -> Claim:
    """C5: COIL-20 flips; SUPERPAC-S does not."""
    checks, why = [], []
    plain = results.curves("coil", "coil20s", "superpac")
    smooth = results.curves("coil", "coil20s", "superpac-s")
    what = "SUPERPAC, rises of 3 points or more once the error was at most 2%"
    paper = "alternates between roughly 0% and 7% (at least one)"
    reached = plain.size and bool((np.nanmin(plain, axis=1) <= 0.02).any())
    if reached:
        found = st.mean_of(np.array([_rises(c, after=0.02) for c in plain], dtype=float))
        checks.append(Check(what, paper, found.text(" a run"), found.within(low=1)))
    elif plain.size:
        low = 100 * float(np.nanmin(plain))
        checks.append(Check(what, paper, f"the error never fell to 2% (least {low:.1f}%)", None))
    else:
        checks.append(missing(what, paper))
    what, paper = "SUPERPAC-S, rises of 3 points or more anywhere", "none"
    if smooth.size:
        found = st.mean_of(np.array([_rises(c) for c in smooth], dtype=float))
        checks.append(Check(what, paper, found.text(" a run"), found.value == 0))
        last = st.mean_of(_last(smooth))
        what, paper = "SUPERPAC-S, last error", "about 0% (at most 1%)"
        checks.append(check_at_most(what, paper, last, 0.01))
        if last.value > 0.01:
            why.append(
                "SUPERPAC-S keeps an early labelling whose K-subspaces cost no later one beats, "
                f"and stays at {100 * last.value:.1f}%: smooth, but stuck."
            )
    else:
        checks += [missing(what, paper), missing("SUPERPAC-S, last error", "about 0%")]
    words = (
        "In the case of COIL-20, the clustering is sometimes unstable, alternating between roughly "
        "0% and 7% clustering error [...]. To avoid this issue, we kept track of the K-subspaces "
        "cost function and ensured the cost decreased at every iteration."
    )
    return Claim("C5", words, tuple(checks), tuple(why))


def usps(results: Results) -> Claim:
    """C6: USPS with 2,000 questions."""
    checks, why = [], []
    for panel, d in (("usps9", 9), ("usps15", 15)):
        rows = results.select("usps", panel, "superpac")
        what, paper = f"d = {d}: SUPERPAC, questions answered", "2,000"
        if rows.empty:
            checks += [missing(what, paper), missing(f"d = {d}: error at the end", "about 0%")]
            continue
        curves = stack(rows)
        got = int(st.answered(curves).min())
        minutes = rows["cpu_seconds"].sum() / 60
        told = f"{got} in {minutes:.1f} processor minutes"
        cut = _cut_short(results, "usps", panel)
        checks.append(Check(what, paper, told, True if got >= 2000 else (None if cut else False)))
        last = st.mean_of(_last(curves))
        what, paper = f"d = {d}: SUPERPAC, error at the end", "about 0% (at most 1%)"
        holds = True if last.value <= 0.01 else (False if got >= 2000 else None)
        checks.append(Check(what, paper, f"{last.text()} after {got} questions", holds))
        if holds is False:
            why.append(f"d = {d}: {100 * last.value:.1f}% of the digits are still wrong.")
    other = results.curves("usps", "usps9", "superpac-gamma5")
    mine = results.curves("usps", "usps9", "superpac")
    if other.size and mine.size:
        why.append(
            "The paper does not say which EnSC gave its input. Ours, gamma = 50, starts at "
            f"{100 * mine[0, 0]:.0f}%; with gamma = 5 SUPERPAC starts at "
            f"{100 * other[0, 0]:.0f}% and is at {100 * _last(other)[0]:.1f}% "
            f"after {int(st.answered(other)[0])} questions. That run was added after the first "
            "had missed the claim, and counts for nothing in the verdict."
        )
    rival = results.select("usps", "usps9", "urasc-n")
    if not rival.empty:
        got = int(st.answered(stack(rival)).max())
        why.append(
            f"URASC-N as written here got to {got} questions in "
            f"{rival['cpu_seconds'].max() / 60:.1f} processor minutes; the paper's took 48 hours "
            "on 10 cores for 1,000."
        )
    words = (
        "URASC did not complete 2000 queries in 48 hours of run time when using 10 cores [...] "
        "We also achieve 0% classification error on the full [...] USPS datasets."
    )
    return Claim("C6", words, tuple(checks), tuple(why))


def sonar(results: Results) -> Claim:
    """C7: competitive without subspaces."""
    mine, theirs = (results.curves("sonar", "sonar", name) for name in ("superpac", "urasc-n"))
    what = "SUPERPAC less URASC-N, mean error over all questions"
    paper = "competitive (no more than 2 points worse)"
    if mine.size and theirs.size:
        gap, upto = _gap(mine, theirs)
        told = f"{_points(gap)} over {upto} questions"
        checks = (Check(what, paper, told, gap.within(high=0.02)),)
    else:
        checks = (missing(what, paper),)
    words = (
        "Even on data without natural subspace structure, SUPERPAC performs competitively with "
        "URASC."
    )
    return Claim("C7", words, checks)


def explore(results: Results) -> Claim:
    """C8: UoS-Explore is nearly as good as possible."""
    checks, why = [], []
    for panel, k in (("yale5", 5), ("yale10", 10), ("yale38", 38)):
        rows = results.select("explore", panel, "superpac")
        least = k * (k - 1) // 2
        what = f"K = {k}: questions until every class is met"
        paper = f"nearly {least} (at most {round(1.25 * least)})"
        if rows.empty:
            checks.append(missing(what, paper))
            continue
        met = rows["met_at"].to_numpy(dtype=float)
        found = st.median_of(np.where(met < 0, np.inf, met))
        checks.append(Check(what, paper, found.text("", 0), found.within(high=1.25 * least)))
        if found.value > 1.25 * least:
            why.append(
                f"K = {k}: the first clustering leaves some subjects without a cluster of their "
                "own; once every estimated cluster is represented, points are drawn at random."
            )
    words = (
        "In our simulations, we found that this algorithm finds at least one point from each "
        "cluster in nearly the lower limit of K(K-1)/2 queries on the Yale dataset."
    )
    return Claim("C8", words, tuple(checks), tuple(why))


def robust_oracle(results: Results) -> Claim:
    """C9: robust PCA does not help the oracle."""
    table = results.table
    kinds = table[(table["kind"] == "oracle-rpca") & (table["status"] == "done")]
    checks = []
    for (figure, panel), _ in kinds.groupby(["figure", "panel"], sort=True):
        plain, robust = (
            results.curves(figure, panel, name) for name in ("oracle-pca", "oracle-rpca")
        )
        if not plain.size:
            continue
        n = min(len(plain), len(robust))
        gap = st.mean_of(robust[:n, 0] - plain[:n, 0])
        told = f"{_points(gap)} (oracle PCA errs on {100 * plain[:n, 0].mean():.1f}%)"
        what = f"{TITLES.get(panel, panel)}: oracle robust PCA less oracle PCA"
        paper = "no improvement (above -0.5 points)"
        checks.append(Check(what, paper, told, gap.within(low=-0.005)))
    if not checks:
        checks = [missing("oracle robust PCA less oracle PCA", "no improvement")]
    words = (
        "We also compared with oracle robust PCA [...] but did not find any improvement in "
        "classification error."
    )
    return Claim("C9", words, tuple(checks))


def margins(results: Results) -> Claim:
    """C10: Theorem 1 and the Corollary."""
    checks, why = [], []
    for method, what in (
        ("theorem", "Theorem 1: settings within the bound"),
        ("corollary", "Corollary: settings with the ordering as often as promised"),
    ):
        rows = results.select("theory", "margins", method)
        if rows.empty:
            checks.append(missing(what, "all"))
            continue
        facts = rows.iloc[0]["facts"]
        good = facts["settings"] - facts["broken"]
        told = f"{good} of {facts['settings']}, {facts['telling']} with a bound above 0"
        holds = bool(facts["holds"])
        checks.append(Check(what, "all", told, holds if facts["telling"] or not holds else None))
        if facts["telling"] == 0:
            why.append(
                f"The {'Corollary' if method == 'corollary' else 'Theorem'} promises nothing (a "
                "negative probability) at the dimensions simulated, so it cannot fail there; the "
                f"ordering itself was seen in at least {100 * facts.get('least_ordered', 0):.0f}% "
                "of the draws."
            )
    words = (
        "Theorem 1's two-sided bound on the margin of a noisy point, and the Corollary: points "
        "near the intersection of subspaces have the smaller margin with high probability."
    )
    return Claim("C10", words, tuple(checks), tuple(why))


MORE = (yale_full, flips, usps, sonar, explore, robust_oracle, margins)


def _gap(first: FloatArray, second: FloatArray) -> tuple[st.Interval, int]:
    """Mean error of one less another over the questions that all trials got to."""
    n = min(len(first), len(second))
    upto = int(min(st.answered(first[:n]).min(), st.answered(second[:n]).min()))
    return st.mean_of(st.area(first[:n], upto) - st.area(second[:n], upto)), upto


def _points(gap: st.Interval) -> str:
    text = gap.text("%").replace("%", " points", 1)
    return text if gap.value < 0 else f"+{text}"


def _rises(curve: FloatArray, after: float | None = None) -> int:
    known = curve[~np.isnan(curve)]
    if after is not None:
        below = np.flatnonzero(known <= after)
        if below.size == 0:
            return 0
        known = known[below[0] :]
    return int(np.sum(np.diff(known) >= FLIP))


def _last(curves: FloatArray) -> FloatArray:
    return curves[np.arange(len(curves)), st.answered(curves)]


def _cut_short(results: Results, figure: str, panel: str, method: str = "superpac") -> bool:
    rows = results.select(figure, panel, method)
    return bool((rows["stopped"] == "time").any())
