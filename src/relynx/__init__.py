"""relynx learns to classify relational sequences and says why.

The public names are below. Each is loaded when it is first used, so that `import relynx` and
`relynx --help` cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from relynx.version import __version__ as __version__

if TYPE_CHECKING:
    from relynx.bias.declarations import Bias
    from relynx.bias.protein_folds import load_protein_folds
    from relynx.bias.reader import parse_bias, read_bias
    from relynx.data.intervals.reader import from_intervals
    from relynx.data.lists import from_lists
    from relynx.data.lynx.reader import read_lynx
    from relynx.data.lynx.writer import write_lynx
    from relynx.data.parquet.partitions import Partitions, scan_parquet
    from relynx.data.parquet.writer import write_parquet
    from relynx.data.sequences import Sequences
    from relynx.data.structures.reader import read_structures
    from relynx.data.synthetic import planted_rule
    from relynx.data.tables.reader import from_events
    from relynx.data.tables.writer import to_events
    from relynx.data.vocabulary import Vocabulary
    from relynx.data.xes.reader import read_xes
    from relynx.data.xes.writer import write_xes
    from relynx.errors import BiasError, DataError, InputError, ParseError
    from relynx.features.grasp import GraspSelector
    from relynx.features.naive_bayes import PatternNB
    from relynx.features.vectorizer import PatternVectorizer
    from relynx.logic.datalog import Background, parse_background, read_background
    from relynx.logic.parser import parse_atom
    from relynx.logic.terms import Atom
    from relynx.mining.matching.match import covers, match
    from relynx.mining.patterns.pattern import Pattern, parse_pattern
    from relynx.mining.patterns.pattern_set import PatternSet
    from relynx.mining.search import mine
    from relynx.models.fisher.classifier import FisherKernelClassifier, FisherScores
    from relynx.models.lohmm.classifier import LoHMMClassifier
    from relynx.models.lohmm.model import LoHMM
    from relynx.models.lynx.classifier import LynxClassifier
    from relynx.models.tildecrf.classifier import TildeCRFClassifier
    from relynx.models.tildecrf.labeller import TildeCRF
    from relynx.plots.confusion import plot_confusion
    from relynx.plots.grasp import plot_grasp
    from relynx.plots.patterns import plot_patterns
    from relynx.plots.sequence import plot_sequence
    from relynx.reports.explain import explain
    from relynx.reports.html import report
    from relynx.store import load, save

__all__ = [
    "Atom",
    "Background",
    "Bias",
    "BiasError",
    "DataError",
    "FisherKernelClassifier",
    "FisherScores",
    "GraspSelector",
    "InputError",
    "LoHMM",
    "LoHMMClassifier",
    "LynxClassifier",
    "ParseError",
    "Partitions",
    "Pattern",
    "PatternNB",
    "PatternSet",
    "PatternVectorizer",
    "Sequences",
    "TildeCRF",
    "TildeCRFClassifier",
    "Vocabulary",
    "covers",
    "explain",
    "from_events",
    "from_intervals",
    "from_lists",
    "load",
    "load_protein_folds",
    "match",
    "mine",
    "parse_atom",
    "parse_background",
    "parse_bias",
    "parse_pattern",
    "planted_rule",
    "plot_confusion",
    "plot_grasp",
    "plot_patterns",
    "plot_sequence",
    "read_background",
    "read_bias",
    "read_lynx",
    "read_structures",
    "read_xes",
    "report",
    "save",
    "scan_parquet",
    "to_events",
    "write_lynx",
    "write_parquet",
    "write_xes",
]

_MODULES = {
    "bias.protein_folds": ("load_protein_folds",),
    "bias.declarations": ("Bias",),
    "bias.reader": ("parse_bias", "read_bias"),
    "data.tables.writer": ("to_events",),
    "data.tables.reader": ("from_events",),
    "data.intervals.reader": ("from_intervals",),
    "data.lists": ("from_lists",),
    "data.lynx.reader": ("read_lynx",),
    "data.lynx.writer": ("write_lynx",),
    "data.parquet.partitions": ("Partitions", "scan_parquet"),
    "data.parquet.writer": ("write_parquet",),
    "data.sequences": ("Sequences",),
    "data.structures.reader": ("read_structures",),
    "data.synthetic": ("planted_rule",),
    "data.vocabulary": ("Vocabulary",),
    "data.xes.reader": ("read_xes",),
    "data.xes.writer": ("write_xes",),
    "errors": ("BiasError", "DataError", "InputError", "ParseError"),
    "features.grasp": ("GraspSelector",),
    "features.naive_bayes": ("PatternNB",),
    "features.vectorizer": ("PatternVectorizer",),
    "logic.datalog": ("Background", "parse_background", "read_background"),
    "logic.parser": ("parse_atom",),
    "logic.terms": ("Atom",),
    "mining.matching.match": ("covers", "match"),
    "mining.patterns.pattern_set": ("PatternSet",),
    "mining.patterns.pattern": ("Pattern", "parse_pattern"),
    "mining.search": ("mine",),
    "models.fisher.classifier": ("FisherKernelClassifier", "FisherScores"),
    "models.lohmm.classifier": ("LoHMMClassifier",),
    "models.lohmm.model": ("LoHMM",),
    "models.lynx.classifier": ("LynxClassifier",),
    "models.tildecrf.classifier": ("TildeCRFClassifier",),
    "models.tildecrf.labeller": ("TildeCRF",),
    "plots.confusion": ("plot_confusion",),
    "plots.grasp": ("plot_grasp",),
    "plots.patterns": ("plot_patterns",),
    "plots.sequence": ("plot_sequence",),
    "reports.explain": ("explain",),
    "reports.html": ("report",),
    "store": ("load", "save"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'relynx' has no attribute {name!r}")
    value = getattr(import_module(f"relynx.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
