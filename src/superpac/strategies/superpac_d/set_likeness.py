"""How alike sets are, however far apart in the graph: a hint which groups may be one.

Pencil drawings of cats and coloured ones make two groups that no walk goes between, and yet a cat
is more like a cat. Points are compared in principal coordinates that vary by as much in every
direction: otherwise what varies most, pencil or colour, would decide alone.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.extmath import randomized_svd

from superpac.array_types import BoolArray, FloatArray
from superpac.device.arrays import Array, is_host, like, namespace, to_host
from superpac.strategies.superpac_d.settings import DEFAULT, Settings
from superpac.system.progress import Progress, no_progress


class SetLikeness:
    """Likeness of sets of points, from where their points are.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Points.
    seed : int
        Of the singular value decomposition.
    settings : Settings
        How many coordinates, and what is added to their variance.

    Examples
    --------
    >>> pencil, cat = np.array([9.0, 0, 0]), np.array([0, 1.0, 0])
    >>> places = np.array([pencil, -pencil, pencil + cat, -pencil + cat])
    >>> points = np.repeat(places, 20, axis=0)
    >>> like = SetLikeness(points, 0).between(np.repeat(np.eye(4), 20, axis=0))
    >>> bool(like[0, 1] > like[0, 3])
    True
    """

    def __init__(self, X: FloatArray, seed: int, settings: Settings = DEFAULT) -> None:
        self._X, self._seed, self.settings = X, seed, settings
        self._points: Array | None = None

    @property
    def known(self) -> bool:
        """Whether the coordinates are there."""
        return self._points is not None

    def between(self, belong: Array, progress: Progress = no_progress) -> FloatArray:
        """Cosine between the middles of sets; 0 for a set that holds nothing.

        Parameters
        ----------
        belong : array of shape (n, S)
            How much each point belongs to each set.
        progress : callable, optional
            Called as ``progress(done, total)`` where the coordinates have to be found first.

        Returns
        -------
        ndarray of shape (S, S)
        """
        if self._points is None:
            self._points = self._coordinates(belong, progress)
        middles = to_host(belong.T @ self._points)  # of any length: directions are compared
        lengths = np.linalg.norm(middles, axis=1, keepdims=True)
        directions = np.divide(middles, lengths, where=lengths > 0, out=np.zeros_like(middles))
        return np.asarray(directions @ directions.T)

    def _coordinates(self, beside: Array, progress: Progress) -> Array:
        """Principal coordinates about the mean, nearly of one variance, where an array lives."""
        centred = self._X - self._X.mean(axis=0)  # in single precision where the points are
        wanted = min(self.settings.like_coordinates, *centred.shape)
        if is_host(beside):
            # in one piece: it does not tell how far it is
            U, lengths, _ = randomized_svd(centred, wanted, random_state=self._seed)
        else:  # a graphics processor decomposes all second moments sooner than a few by steps
            there = like(centred, beside, beside.dtype)
            values, vectors = (
                part.flip(-1)[..., :wanted]
                for part in namespace(there).linalg.eigh(there.T @ there)
            )
            lengths = to_host(values.clamp(min=0.0).sqrt())
            U = to_host(there @ vectors) / np.maximum(lengths, np.finfo(float).tiny)
        progress(1, 1)
        variance = lengths**2
        scale = np.sqrt(
            variance + self.settings.like_shrunk * variance.mean() + np.finfo(float).tiny
        )
        return like(U * (lengths / scale), beside)


def likeness_work(n: int, ambient: int, settings: Settings) -> float:
    """Nanoseconds that the coordinates are likely to take, about, to tell progress by."""
    return 1.6 * n * ambient * settings.like_coordinates


def likelier(like: FloatArray, among: BoolArray, strength: float) -> FloatArray:
    """How many times as likely as on average each pair is one, by its likeness.

    Parameters
    ----------
    like : ndarray of shape (S, S)
        Likeness of sets.
    among : ndarray of bool of shape (S, S)
        The pairs that are compared with each other.
    strength : float
        Logarithm of the factor for one standard deviation of likeness.

    Returns
    -------
    ndarray of shape (S, S)
        Of mean 1 over the pairs; 1 elsewhere, and where fewer than three pairs are compared.

    Examples
    --------
    >>> like = np.array([[1, .9, 0], [.9, 1, 0], [0, 0, 1]])
    >>> likelier(like, ~np.eye(3, dtype=bool), 1.0).round(1).tolist()
    [[1.0, 2.4, 0.3], [2.4, 1.0, 0.3], [0.3, 0.3, 1.0]]
    """
    found = np.ones_like(like)
    values = like[among]
    spread = float(values.std()) if values.size >= 3 else 0.0
    if spread > 1e-12:
        weight = np.exp(strength * (values - values.mean()) / spread)
        found[among] = weight / weight.mean()
    return found
