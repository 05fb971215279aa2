"""Affinities by name: from a short text such as ``"tsc:q=5"`` to an estimator and back."""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from superpac.affinity.base import AffinityEstimator
from superpac.affinity.ekss import EKSS
from superpac.affinity.ensc import EnSC
from superpac.affinity.gsc import GSC
from superpac.affinity.ksubspaces import KSubspaces
from superpac.affinity.lrr import LRR
from superpac.affinity.neighbors import KNNGraph, RBFGraph
from superpac.affinity.precomputed import Precomputed
from superpac.affinity.ssc import SSC
from superpac.affinity.ssc_omp import SSCOMP
from superpac.affinity.tsc import TSC
from superpac.errors import InputError

METHODS: dict[str, type[AffinityEstimator]] = {
    "tsc": TSC,
    "ssc": SSC,
    "ssc-omp": SSCOMP,
    "ensc": EnSC,
    "lrr": LRR,
    "gsc": GSC,
    "ksubspaces": KSubspaces,
    "ekss": EKSS,
    "rbf": RBFGraph,
    "knn": KNNGraph,
}

DISTANCES = ("rbf", "knn")

# The papers' letters for parameters that have a longer name here.
ALIASES: dict[str, dict[str, str]] = {
    "ssc-omp": {"k": "n_nonzero"},
    "lrr": {"lambda": "lam"},
    "gsc": {"d": "d_max"},
    "ksubspaces": {"d": "dim"},
    "ekss": {"d": "dim", "b": "n_runs", "t": "n_iter"},
}

# The settings under which SSC's paper reports faces and motion.
PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "ssc-faces": ("ssc", {"outliers": True, "normalize": False, "max_iter": 150}),
    "ssc-motion": ("ssc", {"alpha": 800.0, "affine": True, "rho": 0.7}),
}

COMMON = ("n_clusters", "random_state", "n_jobs")


@dataclass(frozen=True)
class MethodInfo:
    """What a help page says about one affinity method.

    Attributes
    ----------
    name : str
        As used in a spec.
    summary : str
        One sentence.
    parameters : dict of str to str
        Names as used in a spec, with their defaults.
    """

    name: str
    summary: str
    parameters: dict[str, str]


def affinity_names() -> list[str]:
    """Names of all affinity methods.

    Examples
    --------
    >>> affinity_names()[:2]
    ['tsc', 'ssc']
    """
    return list(METHODS)


def describe(name: str | None = None) -> list[MethodInfo]:
    """Summary and parameters of one method, or of all.

    Examples
    --------
    >>> describe("tsc")[0].parameters
    {'q': 'none', 'search': 'auto', 'device': 'auto'}
    """
    names = affinity_names() if name is None else [_known(name)]
    out = []
    for each in names:
        summary = (inspect.getdoc(METHODS[each]) or "").split("\n\n")[0].replace("\n", " ")
        defaults = {_public(p): _write(value) for p, value in _defaults(METHODS[each]).items()}
        out.append(MethodInfo(each, summary, defaults))
    return out


def of_distances(spec: Any) -> bool:
    """Whether a spec names a graph of distances between points, where their length matters.

    Examples
    --------
    >>> of_distances("knn:k=7"), of_distances("tsc:q=5")
    (True, False)
    """
    return isinstance(spec, str) and spec.split(":")[0].strip().lower() in DISTANCES


def make_affinity(
    spec: Any,
    n_clusters: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> AffinityEstimator:
    """Give the estimator that a spec stands for.

    Parameters
    ----------
    spec : str, path, estimator or matrix
        A method with parameters (``"tsc"``, ``"ensc:gamma=10,tau=0.9"``), a ``.npy``/``.npz`` file
        that holds an affinity, an affinity estimator (copied, with the arguments below set), or
        an affinity matrix itself, dense or sparse.
    n_clusters : int
        Number of clusters.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Threads.

    Returns
    -------
    AffinityEstimator
        Not fitted, its parameters checked.

    Raises
    ------
    InputError
        For an unknown method, parameter or value; the message lists what is allowed.

    Examples
    --------
    >>> make_affinity("tsc:q=5", 10)
    TSC(n_clusters=10, q=5)
    """
    common: dict[str, Any] = {
        "n_clusters": n_clusters,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    if isinstance(spec, AffinityEstimator):
        estimator = clone(spec).set_params(**common)
    elif isinstance(spec, (np.ndarray, list)) or sparse.issparse(spec):
        estimator = Precomputed(matrix=spec, **common)
    elif isinstance(spec, (str, os.PathLike)):
        estimator = _from_text(os.fspath(spec), common)
    else:
        raise InputError(
            "An affinity must be named by a text, a file, an estimator or a matrix. "
            f"Got {type(spec).__name__} instead."
        )
    # Values are checked now, against the least and widest data there could be, not hours later.
    rows = n_clusters if isinstance(n_clusters, (int, np.integer)) else 2
    estimator._check_parameters(max(rows, 2), 2**40)
    return estimator


def format_spec(estimator: AffinityEstimator) -> str:
    """Shortest text that :func:`make_affinity` turns into the same estimator.

    Parameters
    ----------
    estimator : AffinityEstimator
        One of the methods here, or a Precomputed that names a file.

    Returns
    -------
    str
        The name and the parameters that differ from their defaults, in the constructor's order.

    Examples
    --------
    >>> format_spec(LRR(lam=4, noiseless=True))
    'lrr:lambda=4,noiseless=true'
    """
    if isinstance(estimator, Precomputed):
        if isinstance(estimator.matrix, (str, os.PathLike)):
            return os.fspath(estimator.matrix)
        raise InputError(
            "An affinity given as a matrix has no text; save it to a .npz file and name that."
        )
    name = next((n for n, kind in METHODS.items() if type(estimator) is kind), None)
    if name is None:
        raise InputError(
            f"Only the methods {', '.join(METHODS)} have a text. "
            f"Got {type(estimator).__name__} instead."
        )
    given = estimator.get_params(deep=False)
    parts = [
        f"{_public(p)}={_write(given[p])}"
        for p, default in _defaults(type(estimator)).items()
        if _write(given[p]) != _write(default)
    ]
    return f"{name}:{','.join(parts)}" if parts else name


def _from_text(text: str, common: dict[str, Any]) -> AffinityEstimator:
    name, _, rest = text.partition(":")
    key, preset = PRESETS.get(name.strip().lower(), (name.strip().lower(), {}))
    if key not in METHODS:
        if text.endswith((".npy", ".npz")) or os.path.sep in text:
            return Precomputed(matrix=text, **common)
        _known(key)
    return METHODS[key](**common, **{**preset, **_parse_parameters(key, rest)})


def _known(name: str) -> str:
    if name not in METHODS:
        raise InputError(
            f"The affinity must be one of {', '.join((*METHODS, *PRESETS))}, or a .npy or .npz "
            "file. "
            f"Got {name!r} instead."
        )
    return name


def _parse_parameters(name: str, text: str) -> dict[str, Any]:
    allowed = _defaults(METHODS[name])
    shown = ", ".join(_public(p) for p in allowed)
    out: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        lookup = {p.lower(): p for p in allowed} | ALIASES.get(name, {})
        parameter = lookup.get(key.lower())
        if not equals or parameter is None:
            raise InputError(
                f"A parameter of {name} must be written as name=value with a name of {shown}. "
                f"Got {part!r} instead."
            )
        if parameter in out:
            raise InputError(f"The parameter {key!r} of {name} was given twice; give it once.")
        out[parameter] = _read(value)
    return out


def _defaults(kind: type[AffinityEstimator]) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in parameters if p.name not in COMMON}


def _public(parameter: str) -> str:
    """Name of a parameter in a spec; lambda is a word that Python keeps for itself."""
    return "lambda" if parameter == "lam" else parameter


def _read(text: str) -> Any:
    lowered = text.lower()
    if lowered in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[lowered]
    if "/" in text:
        return [_read(piece) for piece in text.split("/")]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _write(value: Any) -> str:
    if value is None or isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (list, tuple, np.ndarray)):
        return "/".join(_write(v) for v in value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(value)
