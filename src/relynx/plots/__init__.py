"""Plots for notebooks. They need matplotlib, which is loaded when the first one is drawn."""

from relynx.plots.confusion import plot_confusion
from relynx.plots.grasp import plot_grasp
from relynx.plots.patterns import plot_patterns
from relynx.plots.sequence import plot_sequence

__all__ = ["plot_confusion", "plot_grasp", "plot_patterns", "plot_sequence"]
