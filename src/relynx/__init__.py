"""relynx learns to classify relational sequences and says why.

The public names are below. Each is loaded when it is first used, so that `import relynx` and
`relynx --help` cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from relynx.version import __version__ as __version__

if TYPE_CHECKING:
    from relynx.bias import Bias as Bias
    from relynx.bias import parse_bias as parse_bias
    from relynx.bias import read_bias as read_bias
    from relynx.bias.protein_folds import load_protein_folds as load_protein_folds
    from relynx.data.data_sets import planted_rule as planted_rule
    from relynx.data.intervals.reader import from_intervals as from_intervals
    from relynx.data.lists import from_lists as from_lists
    from relynx.data.lynx import read_lynx as read_lynx
    from relynx.data.lynx import write_lynx as write_lynx
    from relynx.data.parquet import Partitions as Partitions
    from relynx.data.parquet import scan_parquet as scan_parquet
    from relynx.data.parquet import write_parquet as write_parquet
    from relynx.data.sequences import Sequences as Sequences
    from relynx.data.structures.reader import read_structures as read_structures
    from relynx.data.tables.reader import from_events as from_events
    from relynx.data.tables.writer import to_events as to_events
    from relynx.data.vocabulary import Vocabulary as Vocabulary
    from relynx.data.xes.reader import read_xes as read_xes
    from relynx.data.xes.writer import write_xes as write_xes
    from relynx.errors import BiasError as BiasError
    from relynx.errors import DataError as DataError
    from relynx.errors import InputError as InputError
    from relynx.errors import ParseError as ParseError
    from relynx.features.grasp import GraspSelector as GraspSelector
    from relynx.features.naive_bayes import PatternNB as PatternNB
    from relynx.features.vectorizer import PatternVectorizer as PatternVectorizer
    from relynx.logic.datalog import Background as Background
    from relynx.logic.datalog import parse_background as parse_background
    from relynx.logic.datalog import read_background as read_background
    from relynx.logic.parser import parse_atom as parse_atom
    from relynx.logic.terms import Atom as Atom
    from relynx.mining.matching.match import covers as covers
    from relynx.mining.matching.match import match as match
    from relynx.mining.patterns.pattern import Pattern as Pattern
    from relynx.mining.patterns.pattern import parse_pattern as parse_pattern
    from relynx.mining.patterns.pattern_set import PatternSet as PatternSet
    from relynx.mining.search import mine as mine
    from relynx.models.evaluation.comparison import compare as compare
    from relynx.models.fisher.classifier import FisherKernelClassifier as FisherKernelClassifier
    from relynx.models.fisher.classifier import FisherScores as FisherScores
    from relynx.models.lohmm.classifier import LoHMMClassifier as LoHMMClassifier
    from relynx.models.lohmm.model import LoHMM as LoHMM
    from relynx.models.lynx.classifier import LynxClassifier as LynxClassifier
    from relynx.models.tildecrf.classifier import TildeCRFClassifier as TildeCRFClassifier
    from relynx.models.tildecrf.labeller import TildeCRF as TildeCRF
    from relynx.plots import plot_confusion as plot_confusion
    from relynx.plots import plot_grasp as plot_grasp
    from relynx.plots import plot_patterns as plot_patterns
    from relynx.plots import plot_sequence as plot_sequence
    from relynx.reports.explain import explain as explain
    from relynx.reports.html import report as report
    from relynx.store import load as load
    from relynx.store import save as save

_MODULES = {
    "bias.protein_folds": ("load_protein_folds",),
    "bias": ("Bias", "parse_bias", "read_bias"),
    "data.tables.writer": ("to_events",),
    "data.tables.reader": ("from_events",),
    "data.intervals.reader": ("from_intervals",),
    "data.lists": ("from_lists",),
    "data.lynx": ("read_lynx", "write_lynx"),
    "data.parquet": ("Partitions", "scan_parquet", "write_parquet"),
    "data.sequences": ("Sequences",),
    "data.structures.reader": ("read_structures",),
    "data.data_sets": ("planted_rule",),
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
    "models.evaluation.comparison": ("compare",),
    "models.fisher.classifier": ("FisherKernelClassifier", "FisherScores"),
    "models.lohmm.classifier": ("LoHMMClassifier",),
    "models.lohmm.model": ("LoHMM",),
    "models.lynx.classifier": ("LynxClassifier",),
    "models.tildecrf.classifier": ("TildeCRFClassifier",),
    "models.tildecrf.labeller": ("TildeCRF",),
    "plots": ("plot_confusion", "plot_grasp", "plot_patterns", "plot_sequence"),
    "reports.explain": ("explain",),
    "reports.html": ("report",),
    "store": ("load", "save"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}
if not TYPE_CHECKING:  # a type checker knows the names by the imports above
    __all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'relynx' has no attribute {name!r}")
    value = getattr(import_module(f"relynx.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
