"""Clustering with as few human answers as possible.

Around SUPERPAC (Lipor & Balzano, "Leveraging Union of Subspace Structure to Improve Constrained
Clustering", ICML 2017).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superpac.affinity.registry import make_affinity
    from superpac.data import Dataset, load
    from superpac.errors import ContradictionError, InputError, SuperpacError
    from superpac.estimator import ActiveSubspaceClustering
    from superpac.graph.spectral import spectral_clustering, spectral_embedding
    from superpac.metrics import adjusted_rand, clustering_error, normalized_mutual_info
    from superpac.session.questions import Question, Receipt
    from superpac.session.session import Session
    from superpac.session.spec import Spec
    from superpac.simulation.loop import simulate
    from superpac.simulation.oracles import NoisyOracle, TruthOracle
    from superpac.strategies import make_strategy

# Loaded when first used: a store or a command line should not wait for compilers to load.
_HOMES = {
    "ActiveSubspaceClustering": "estimator",
    "ContradictionError": "errors",
    "Dataset": "data",
    "InputError": "errors",
    "NoisyOracle": "simulation.oracles",
    "Question": "session.questions",
    "Receipt": "session.questions",
    "Session": "session.session",
    "Spec": "session.spec",
    "SuperpacError": "errors",
    "TruthOracle": "simulation.oracles",
    "adjusted_rand": "metrics",
    "clustering_error": "metrics",
    "load": "data",
    "make_affinity": "affinity.registry",
    "make_strategy": "strategies",
    "normalized_mutual_info": "metrics",
    "simulate": "simulation.loop",
    "spectral_clustering": "graph.spectral",
    "spectral_embedding": "graph.spectral",
}

__all__ = [
    "ActiveSubspaceClustering",
    "ContradictionError",
    "Dataset",
    "InputError",
    "NoisyOracle",
    "Question",
    "Receipt",
    "Session",
    "Spec",
    "SuperpacError",
    "TruthOracle",
    "adjusted_rand",
    "clustering_error",
    "load",
    "make_affinity",
    "make_strategy",
    "normalized_mutual_info",
    "simulate",
    "spectral_clustering",
    "spectral_embedding",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'superpac' has no attribute {name!r}")
    return getattr(import_module(f"superpac.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
