"""The paper's figures as specs, a runner, and drawings and claims from saved results alone."""

from superpac.research.figure_specs import FigureSpec, Line, Panel, figure_names, load_figure
from superpac.research.results import Results, read_results
from superpac.research.runner import run_figures
from superpac.research.tasks import Task, seed_of

__all__ = [
    "FigureSpec",
    "Line",
    "Panel",
    "Results",
    "Task",
    "figure_names",
    "load_figure",
    "read_results",
    "run_figures",
    "seed_of",
]
