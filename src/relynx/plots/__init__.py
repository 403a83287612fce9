"""Plots for notebooks; matplotlib is loaded when the first one is drawn.

Each function draws on given axes or makes a figure, and returns the axes. `canvas` is the only
module that uses matplotlib; `layout` arranges a sequence before it is drawn.
"""

from relynx.plots.confusion import plot_confusion
from relynx.plots.grasp import plot_grasp
from relynx.plots.patterns import plot_patterns
from relynx.plots.sequence import plot_sequence

__all__ = ["plot_confusion", "plot_grasp", "plot_patterns", "plot_sequence"]
