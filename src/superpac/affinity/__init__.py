"""From points to an affinity matrix: one scikit-learn estimator per method."""

from superpac.affinity.base import AffinityEstimator
from superpac.affinity.ekss import EKSS
from superpac.affinity.ensc import EnSC
from superpac.affinity.gsc import GSC
from superpac.affinity.ksubspaces import KSubspaces
from superpac.affinity.lrr import LRR
from superpac.affinity.neighbors import KNNGraph, RBFGraph
from superpac.affinity.precomputed import Precomputed
from superpac.affinity.registry import (
    MethodInfo,
    affinity_names,
    describe,
    format_spec,
    make_affinity,
)
from superpac.affinity.ssc import SSC
from superpac.affinity.ssc_omp import SSCOMP
from superpac.affinity.tsc import TSC

__all__ = [
    "EKSS",
    "GSC",
    "LRR",
    "SSC",
    "SSCOMP",
    "TSC",
    "AffinityEstimator",
    "EnSC",
    "KNNGraph",
    "KSubspaces",
    "MethodInfo",
    "Precomputed",
    "RBFGraph",
    "affinity_names",
    "describe",
    "format_spec",
    "make_affinity",
]
