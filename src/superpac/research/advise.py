"""Advice from the data alone: union of subspaces or ordinary clusters, which affinity, which d.

The paper leaves open how to learn "from unlabeled data whether the union of subspace model or a
standard clustering approach is more appropriate". Here every affinity clusters a sample of the
points, and each clustering is asked two questions that need no truth. Does the subspace fitted to
one half of a cluster find the other half of it again? Do a point's neighbours share its cluster?
What either confirms, times how even the clusters are (one lump is confirmed by everything), plus
how well the affinity's own graph falls into them (its modularity), is the score.

How far to trust it: the rule was picked from about thirty on one small draw of 17 benchmark sets,
where it came within 2 points of the best affinity in 11. On fresh draws (13 sets, twice, 300
points) it did so in 10 of 26, 4.2 points from the best on average. That is no more often than
always taking the kNN graph (10 of 26, 5.1 points), and modularity alone did as well or better (13
of 26, 3.5 points). It avoids the worst choices; it does not find the best one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from superpac.affinity.base import unit_rows
from superpac.affinity.registry import make_affinity
from superpac.array_types import FloatArray, IntArray
from superpac.data import Dataset
from superpac.errors import InputError, SuperpacError
from superpac.graph.piece_count import modularity
from superpac.graph.spectral import spectral_clustering
from superpac.subspaces.geometry import choose_dim, fit_bases, residuals

Progress = Callable[[int, int], None]

SUBSPACE = ("tsc", "ssc", "ssc-omp", "ensc:gamma=5", "lrr", "gsc", "ekss", "ksubspaces")
ORDINARY = ("rbf", "knn")
SAMPLE = 800  # points looked at; more changes the choice little and the time much
NEIGHBOURS = 5
SPREAD = 10.0  # columns whose spreads differ by more than this factor want scaling


@dataclass(frozen=True)
class Candidate:
    """One affinity and how well its clusters are confirmed.

    Attributes
    ----------
    affinity : str
        As written in a spec.
    subspaces : float
        Share of points that the subspaces fitted to the other half of the data put back into
        their cluster.
    neighbours : float
        Share of points whose nearest neighbours are mostly of their cluster.
    balance : float
        Entropy of the cluster sizes over that of equal ones; 0 for one lump.
    modularity : float
        Share of the graph's weight within clusters, less what chance would put there.
    dim : int
        Subspace dimension that separates its clusters best.
    seconds : float
        To build and cluster it.
    """

    affinity: str
    subspaces: float
    neighbours: float
    balance: float
    modularity: float
    dim: int
    seconds: float

    @property
    def score(self) -> float:
        """What candidates are compared by."""
        return max(self.subspaces, self.neighbours) * self.balance + self.modularity


@dataclass(frozen=True)
class Advice:
    """What :func:`advise` says.

    Attributes
    ----------
    structure : str
        "union of subspaces" or "ordinary clusters".
    affinity : str
        Chosen affinity.
    dim : int
        Chosen subspace dimension.
    standardise : bool
        Whether columns should be scaled first.
    candidates : tuple of Candidate
        All that were tried, best first.
    reasons : tuple of str
        Why, in sentences.
    n_used, n : int
        Points looked at, and points there are.
    """

    structure: str
    affinity: str
    dim: int
    standardise: bool
    candidates: tuple[Candidate, ...]
    reasons: tuple[str, ...] = field(default=())
    n_used: int = 0
    n: int = 0


def advise(
    data: Dataset,
    n_clusters: int,
    *,
    affinities: tuple[str, ...] = SUBSPACE + ORDINARY,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Progress | None = None,
) -> Advice:
    """Say which affinity and dimension suit some data, without its labels.

    Parameters
    ----------
    data : Dataset
        The points; true classes are not looked at.
    n_clusters : int
        Number of clusters.
    affinities : tuple of str
        What to choose from.
    sample : int, default=800
        Points looked at.
    seed : int, default=0
        Of the sample, the clusterings and the halves.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Returns
    -------
    Advice

    References
    ----------
    The question is the last one of Lipor & Balzano, ICML 2017; confirming a clustering on the half
    that did not make it is the idea of Tibshirani & Walther, "Cluster validation by prediction
    strength", J. Comput. Graph. Stat. 14, 2005. ``benchmarks/advise.py`` measures how good it is.

    Examples
    --------
    >>> from superpac.data.synthetic import make_subspaces
    >>> X, _ = make_subspaces(40, 3, 3, 30, seed=0)
    >>> found = advise(Dataset(X), 3, affinities=("tsc", "knn"))
    >>> found.structure, found.dim
    ('union of subspaces', 3)
    """
    if not 1 < n_clusters <= len(data) // 2:
        raise InputError(
            f"Advice needs at least 2 clusters, and 2 points for each of them. Got {n_clusters} "
            f"clusters and {len(data)} points."
        )
    scale = uneven_columns(data)
    part = data.standardised() if scale else data
    if len(part) > sample:
        drawn = np.random.default_rng(seed).choice(len(part), sample, replace=False)
        part = part.subset(np.sort(drawn))
    X = unit_rows(part.points())
    found = []
    for done, name in enumerate(affinities):
        if progress is not None:
            progress(done, len(affinities))
        candidate = _try(name, X, n_clusters, seed)
        if candidate is not None:
            found.append(candidate)
    if not found:
        raise InputError("No affinity could be built from these points; look at the data first.")
    ranked = tuple(sorted(found, key=lambda c: (-c.score, affinities.index(c.affinity))))
    best = ranked[0]
    structure = "ordinary clusters" if best.affinity in ORDINARY else "union of subspaces"
    reasons = _reasons(ranked, structure, scale, len(part), len(data))
    return Advice(structure, best.affinity, best.dim, scale, ranked, reasons, len(part), len(data))


def uneven_columns(data: Dataset) -> bool:
    """Whether a table's columns are measured in such different units that one would drown others.

    Parameters
    ----------
    data : Dataset
        Images are never uneven: their columns are pixels of one scale.

    Returns
    -------
    bool
    """
    if data.kind == "image":
        return False
    spread = data.points().std(axis=0)
    spread = spread[spread > 0]
    return bool(spread.size and spread.max() > SPREAD * spread.min())


def _try(name: str, X: FloatArray, n_clusters: int, seed: int) -> Candidate | None:
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a graph in pieces is judged by its clusters below
            graph = make_affinity(name, n_clusters, random_state=seed).affinity(X)
            labels = spectral_clustering(graph, n_clusters, random_state=seed)
    except (SuperpacError, ValueError, np.linalg.LinAlgError):
        return None  # an affinity that cannot be built is no candidate
    dim = choose_dim(X, labels, n_clusters, max_dim=min(15, X.shape[1]), seed=seed)
    return Candidate(
        name,
        confirmed_by_subspaces(X, labels, n_clusters, dim, seed),
        confirmed_by_neighbours(X, labels),
        balance(labels, n_clusters),
        modularity(graph, labels, n_clusters),
        dim,
        time.perf_counter() - begun,
    )


def confirmed_by_subspaces(
    X: FloatArray, labels: IntArray, n_clusters: int, dim: int, seed: int = 0
) -> float:
    """Share of points that subspaces fitted to the other half put back into their cluster.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    labels : ndarray of shape (n,)
        A clustering.
    n_clusters, dim : int
        Number of clusters, subspace dimension.
    seed : int, default=0
        Of the halves.

    Returns
    -------
    float
    """
    half = np.random.default_rng(seed).permutation(len(X)) % 2
    right = 0
    for side in (0, 1):
        train, test = half != side, half == side
        members = np.where(train, labels, -1)
        bases = fit_bases(X, members, n_clusters, dim)
        right += int((residuals(X[test], bases).argmin(axis=1) == labels[test]).sum())
    return right / len(X)


def confirmed_by_neighbours(X: FloatArray, labels: IntArray) -> float:
    """Share of points whose five nearest others are mostly of their own cluster.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    labels : ndarray of shape (n,)
        A clustering.

    Returns
    -------
    float
    """
    squared = np.einsum("ij,ij->i", X, X)
    distance = squared[:, None] + squared[None, :] - 2 * (X @ X.T)
    np.fill_diagonal(distance, np.inf)
    count = min(NEIGHBOURS, len(X) - 1)
    near = labels[np.argpartition(distance, count - 1, axis=1)[:, :count]]
    votes = (near[:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return float(np.mean(votes.argmax(axis=1) == labels))


def balance(labels: IntArray, n_clusters: int) -> float:
    """Entropy of the cluster sizes over that of equal sizes.

    Examples
    --------
    >>> balance(np.array([0, 0, 1, 1]), 2), balance(np.array([0, 0, 0, 0]), 2)
    (1.0, 0.0)
    """
    share = np.bincount(labels, minlength=n_clusters) / len(labels)
    share = share[share > 0]
    return float(abs((share * np.log(share)).sum()) / np.log(n_clusters))


def _reasons(
    ranked: tuple[Candidate, ...], structure: str, scale: bool, used: int, n: int
) -> tuple[str, ...]:
    best = ranked[0]
    told = []
    if scale:
        told.append(
            "The columns are measured in very different units, so they were scaled to equal spread."
        )
    if used < n:
        told.append(f"Judged on {used} of the {n} points, drawn at random.")
    told.append(
        f"With {best.affinity}, subspaces of dimension {best.dim} fitted to one half of the points "
        f"put {100 * best.subspaces:.0f}% of the other half back into their cluster; the nearest "
        f"neighbours do so for {100 * best.neighbours:.0f}%."
    )
    others = [c for c in ranked if (c.affinity in ORDINARY) != (best.affinity in ORDINARY)]
    if others:
        kind = "subspace" if structure == "ordinary clusters" else "ordinary"
        told.append(
            f"The best {kind} affinity, {others[0].affinity}, scores {others[0].score:.2f} against "
            f"{best.score:.2f}."
        )
        if best.score - others[0].score < 0.05:
            told.append("That is close: both are worth a try.")
    lumps = [c.affinity for c in ranked if c.balance < 0.5]
    if lumps:
        told.append(f"Nearly everything falls into one cluster with {', '.join(lumps)}.")
    if max(best.subspaces, best.neighbours) < 0.7:
        told.append(
            "No clustering is confirmed well: expect to need many questions, or other features."
        )
    return tuple(told)
