"""People's data and the benchmark sets as points, with names, truth for measuring, and pictures."""

from superpac.data.benchmarks import available
from superpac.data.dataset import Dataset
from superpac.data.load import load

__all__ = ["Dataset", "available", "load"]
