"""The paper's claims C1 to C10, judged by code from the results alone.

Each claim is a few checks with a figure, its interval and a bound written beside it. A claim is
"reproduced" when every check holds, "partly" when some do, "not" when none does and one fails.
Where the figure misses the bound but its interval reaches it, the check cannot tell; a claim of
which no check can tell is "unclear", and one without results "not tested".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from superpac.research import statistics as st
from superpac.research.results import Results
from superpac.research.statistics import FloatArray, IntArray, Interval

MANY = "yale_mnist_many"
NONE = "no results"
TITLES = {
    "yale5": "Yale B, K = 5",
    "yale10": "Yale B, K = 10",
    "yale38": "Yale B, K = 38",
    "mnist5": "MNIST, K = 5",
    "mnist10": "MNIST, K = 10",
    "coil20": "COIL-20",
    "coil100": "COIL-100",
    "usps9": "USPS, d = 9",
    "usps15": "USPS, d = 15",
}
OF_THE_TIME = {  # rivals that were there when the paper was written
    "urasc-n": "URASC-N",
    "urasc": "URASC",
    "explore": "Explore/Consolidate",
    "min-max": "min-max",
    "npu": "NPU",
}
FEW = 5  # fewer trials name no best rival


@dataclass(frozen=True)
class Check:
    """One thing a claim says.

    Attributes
    ----------
    what : str
        What is measured.
    paper : str
        What the paper says of it, and the bound that is taken for it.
    ours : str
        What was found.
    holds : bool or None
        None where the results cannot tell, or there are none.
    """

    what: str
    paper: str
    ours: str
    holds: bool | None

    @property
    def words(self) -> str:
        """Outcome for people."""
        if self.holds is None:
            return "not tested" if self.ours == NONE else "cannot tell"
        return "holds" if self.holds else "does not hold"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper with its checks.

    Attributes
    ----------
    name : str
        C1 to C10.
    words : str
        The paper's.
    checks : tuple of Check
        What was looked at.
    why : tuple of str
        What explains a difference.
    """

    name: str
    words: str
    checks: tuple[Check, ...]
    why: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """Give "reproduced", "partly", "not", "unclear" or "not tested"."""
        known = [check.holds for check in self.checks if check.holds is not None]
        if not known:
            tested = any(check.ours != NONE for check in self.checks)
            return "unclear" if tested else "not tested"
        if not any(known):
            return "not"
        return "reproduced" if all(known) and len(known) == len(self.checks) else "partly"


def judge(results: Results) -> list[Claim]:
    """Judge all ten claims.

    Parameters
    ----------
    results : Results
        From :func:`~superpac.research.results.read_results`.

    Returns
    -------
    list of Claim

    References
    ----------
    Lipor & Balzano, "Leveraging Union of Subspace Structure to Improve Constrained Clustering",
    ICML 2017.
    """
    from superpac.research.claims_more import MORE

    rules: Sequence[Callable[[Results], Claim]] = (mnist_at_500, half_the_questions, passes_oracle)
    return [rule(results) for rule in (*rules, *MORE)]


def missing(what: str, paper: str) -> Check:
    """Check for which there are no results."""
    return Check(what, paper, NONE, None)


def mnist_at_500(results: Results) -> Claim:
    """C1: five per cent at 500 questions on ten digits."""
    mine = results.curves(MANY, "mnist10", "superpac")
    rivals = {
        name: found
        for name in ("urasc-n", "urasc")
        if (found := results.curves(MANY, "mnist10", name)).size
    }
    for name in OF_THE_TIME:
        found = results.curves("rivals", "mnist10", name)
        if len(found) >= FEW and name not in rivals:
            rivals[name] = found
    checks, why = [], []
    at = 500
    error = error_at(mine, at)
    checks.append(
        check_at_most("SUPERPAC, error at 500 questions", "about 5% (at most 7.5%)", error, 0.075)
    )
    best = min(
        ((error_at(curves, at), name) for name, curves in rivals.items()),
        key=lambda pair: np.nan_to_num(pair[0].value, nan=np.inf),
        default=(Interval(np.nan, np.nan, np.nan, 0), "none"),
    )
    text = f"best rival ({OF_THE_TIME.get(best[1], 'none')}), error at 500 questions"
    checks.append(check_between(text, "about 20% (15% to 25%)", best[0], 0.15, 0.25))
    if best[0].value < 0.15:
        why.append(
            f"The best rival, {OF_THE_TIME[best[1]]}, errs on {100 * best[0].value:.1f}% here, "
            "less than the paper found for its own implementation of its rivals."
        )
    start = st.mean_of(mine[:, 0]) if mine.size else best[0]
    if mine.size:
        checks.append(
            check_between("no question, TSC", "about 35% (30% to 40%)", start, 0.30, 0.40)
        )
    else:
        checks.append(missing("no question, TSC", "about 35% (30% to 40%)"))
    if error.value > 0.075:
        to = st.median_of(st.questions_to(mine, 0.05))
        why.append(f"SUPERPAC gets to 5% after {to.text('', 0)} questions.")
    words = (
        "On ten MNIST digits [...] we get 5% classification error with only 500 pairwise queries "
        "compared to about 20% error for current state-of-the-art PCC algorithms and 35% for "
        "unsupervised algorithms."
    )
    return Claim("C1", words, tuple(checks), tuple(why))


def half_the_questions(results: Results) -> Claim:
    """C2: about half the questions that URASC needs."""
    checks, why = [], []
    for panel in ("yale5", "yale10", "mnist5", "mnist10"):
        where = TITLES[panel]
        what = f"{where}: questions to 0%, SUPERPAC over URASC-N"
        paper = "about half (ratio at most 0.65)"
        mine, theirs = (results.curves(MANY, panel, name) for name in ("superpac", "urasc-n"))
        if not (mine.size and theirs.size):
            checks.append(missing(what, paper))
            continue
        n = min(len(mine), len(theirs))
        a, b = (st.questions_to(curves[:n], 0.0) for curves in (mine, theirs))
        budget = int(min(st.answered(mine[:n]).min(), st.answered(theirs[:n]).min()))
        first, second = st.median_of(a), st.median_of(b)
        words = f"{first.text('', 0)} against {second.text('', 0)}"
        if np.isinf(first.value) and np.isinf(second.value):
            checks.append(Check(what, paper, f"neither within {budget} questions", None))
        elif np.isinf(first.value):
            checks.append(Check(what, paper, words, False))
        elif np.isinf(second.value):
            ratio = first.value / budget
            told = f"{words}; ratio at most {ratio:.2f}"
            checks.append(Check(what, paper, told, True if ratio <= 0.65 else None))
        else:
            ratio_of = st.bootstrap(partial(_ratio, a, b, budget), n)
            told = f"{words}; ratio {ratio_of.text('', 2)}"
            checks.append(Check(what, paper, told, ratio_of.within(high=0.65)))
            if ratio_of.value > 0.65:
                near = [st.median_of(st.questions_to(c[:n], 0.01)) for c in (mine, theirs)]
                more = "more" if ratio_of.value > 1 else "fewer"
                why.append(
                    f"{where}: SUPERPAC needs {more} questions than URASC-N to the last point. "
                    f"Down to 1% it takes SUPERPAC {near[0].text('', 0)}, "
                    f"URASC-N {near[1].text('', 0)}."
                )
    words = (
        "In all cases, SUPERPAC requires roughly half the number of queries needed by URASC to "
        "achieve perfect clustering."
    )
    return Claim("C2", words, tuple(checks), tuple(why))


def passes_oracle(results: Results) -> Claim:
    """C3: passes oracle PCA at 2Kd and 3Kd questions."""
    checks, why = [], []
    for panel, claimed in (("yale5", 90), ("yale10", 270)):
        where = TITLES[panel]
        what = f"{where}: questions until the mean error is at most oracle PCA's"
        paper = f"about {claimed} (at most {claimed * 3 // 2})"
        mine = results.curves(MANY, panel, "superpac")
        oracle = results.curves(MANY, panel, "oracle-pca")
        if not (mine.size and oracle.size):
            checks.append(missing(what, paper))
            continue
        n = min(len(mine), len(oracle))
        lines = oracle[:n, 0]
        found = st.bootstrap(partial(_crossing, mine[:n], lines), n)
        level, start = st.mean_of(lines), st.mean_of(mine[:, 0])
        told = f"{found.text('', 0)}; oracle PCA {level.text()}"
        checks.append(Check(what, paper, told, found.within(high=1.5 * claimed)))
        if found.value > 1.5 * claimed:
            low = st.questions_to(mine.mean(axis=0)[None, :], 0.01)[0]
            why.append(
                f"{where}: oracle PCA errs on only {100 * level.value:.2f}% here, so that passing "
                f"it means no mistake at all; SUPERPAC starts at {100 * start.value:.1f}% and is "
                f"at 1% after {st.Interval(float(low), np.nan, np.nan, 1).text('', 0, False)} "
                "questions."
            )
        elif found.value < claimed / 2:
            why.append(
                f"{where}: passed earlier than the paper says; SSC starts at "
                f"{100 * start.value:.1f}% here."
            )
    words = (
        "For the Yale dataset with K = 5, roughly 2Kd queries are required to surpass oracle "
        "performance, and for K = 10 roughly 3Kd queries are required."
    )
    return Claim("C3", words, tuple(checks), tuple(why))


def error_at(curves: FloatArray, questions: int) -> Interval:
    """Mean error after so many questions; without a value where a trial did not get there."""
    if curves.size == 0 or curves.shape[1] <= questions:
        return Interval(np.nan, np.nan, np.nan, 0)
    return st.mean_of(curves[:, questions])


def check_at_most(what: str, paper: str, found: Interval, bound: float, unit: str = "%") -> Check:
    """Holds when the figure is at most the bound."""
    if np.isnan(found.value):
        return missing(what, paper)
    return Check(what, paper, found.text(unit), found.within(high=bound))


def check_between(what: str, paper: str, found: Interval, low: float, high: float) -> Check:
    """Holds when the figure is in the band."""
    if np.isnan(found.value):
        return missing(what, paper)
    return Check(what, paper, found.text(), found.within(low, high))


def _ratio(a: FloatArray, b: FloatArray, budget: int, rows: IntArray) -> float:
    """Ratio of medians; a rival that never got there is taken to do so with its last question."""
    above, below = st.middle(a[rows]), st.middle(b[rows])
    if np.isinf(above) and np.isinf(below):
        return float("nan")
    return above / max(min(below, budget), 1.0)


def _crossing(curves: FloatArray, lines: FloatArray, rows: IntArray) -> float:
    mean = curves[rows].mean(axis=0)[None, :]
    return float(st.questions_to(mean, float(lines[rows].mean()))[0])
