"""`LoHMM`: a logical hidden Markov model (Kersting, De Raedt and Raiko, JAIR 25, 2006)."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from relynx.arrays import Floats
from relynx.bias.modes import SourceSpans
from relynx.errors import InputError, Source, first_problems, raise_all
from relynx.features.naive_bayes import checked_weights
from relynx.logic.source_files import read_source
from relynx.logic.terms import Atom, as_constant
from relynx.models.lohmm import checks as ck
from relynx.models.lohmm import clauses as cl
from relynx.models.lohmm.inference import expectations as inference
from relynx.models.lohmm.inference.expectations import baum_welch, drawn_values
from relynx.models.lohmm.inference.ground import Grounder, Grounding
from relynx.models.lohmm.inference.program import Program, Sampler
from relynx.models.lohmm.text import ModelReader, model_lines
from relynx.search_settings import as_count

MOST_STEPS = 100_000  # of a sequence that is drawn until its end


@dataclass(frozen=True, repr=False)
class LoHMM(cl.Clauses):
    """A hidden Markov model whose states and observations are atoms with variables.

    A transition `p : head <- observation - body` goes from a state that the body fits to one of the
    head, and shows the observation. A state takes the transitions of the most specific body that it
    fits. What the variables of the head stand for, if not in the body, is drawn by the selection
    distributions, then those of the observation; a variable is drawn once. Transitions that lead to
    the same state with the same observation add up. Where some transition leads to the state `end`,
    a sequence is one that ends there.

    A model never changes: `fit` and `with_parameters` return another one. Sequences are lists of
    ground atoms. `str(model)` is the text that `parse` reads.

    Parameters
    ----------
    transitions
        `Transition(probability, head, observation, body, block)`. Those of one body, and of one
        block if they have any, sum to 1, give or take 0.001.
    start
        `(probability, head)`: how a sequence begins.
    types
        The types of the arguments of each predicate, `{("emacs", 2): ("file", "user")}`. Predicates
        without arguments need none.
    values
        The constants of each type.
    selection
        `argument` draws a variable by a distribution of the argument at which it first stands,
        `type` by one of its type.
    selections
        These distributions, in the order of the values: `{("emacs", 2, 1): (0.5, 0.5)}` is for the
        first argument of emacs/2, `{"file": (0.5, 0.5)}` for a type. Uniform where not given.
    blocks
        The first steps of blocks of steps, beginning with 1. A transition may hold in one block
        only: `block` is its number, from 1 on.

    Attributes
    ----------
    parameters : Parameters
        All probabilities in one row: `values`, `groups`, `names`.
    history : tuple of float
        The log-likelihood at the start and after each iteration of the `fit` that made the model.
    penalised_history : tuple of float
        The same with the log density of the pseudo-counts added, which never decreases.

    Examples
    --------
    >>> import relynx as rx
    >>> model = rx.LoHMM.parse("type(s(t)). type(o(t)). values(t,[a,b]). select(s(X),X,[0.8,0.2]). "
    ...     "1.0 : s(X) <- start. 0.5 : s(X) <- o(X) - s(X). 0.5 : s(Y) <- o(X) - s(X).")
    >>> sequence = [rx.parse_atom("o(a)"), rx.parse_atom("o(b)")]
    >>> round(float(model.log_probability([sequence])[0]), 6)  # log(0.8 * 0.5 * 0.2)
    -2.525729
    """

    places: SourceSpans = field(kw_only=True, default=SourceSpans(), compare=False)
    history: tuple[float, ...] = field(init=False, default=(), compare=False)
    penalised_history: tuple[float, ...] = field(init=False, default=(), compare=False)
    program: Program = field(init=False, compare=False)
    _row: Floats = field(init=False, compare=False)

    def __post_init__(self) -> None:
        raise_all(ck.form_problems(vars(self)))
        self._set(
            transitions=tuple(self.transitions),
            start=tuple(cl.Start(*clause) for clause in self.start),
            types={key: tuple(types) for key, types in self.types.items()},
            values={type_: tuple(map(as_constant, each)) for type_, each in self.values.items()},
            selections={slot: tuple(map(float, each)) for slot, each in self.selections.items()},
            blocks=tuple(self.blocks),
        )
        program, selections = ck.checked_program(self, self.places)
        start, transitions = cl.ordered_start(self.start), cl.ordered_transitions(self.transitions)
        row = [clause.probability for clause in start] + [t.probability for t in transitions]
        row += chain.from_iterable(selections.values())
        self._set(
            start=start,
            transitions=transitions,
            selections=selections,
            program=program,
            _row=np.array(row, np.float64),
        )

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        return "\n".join(model_lines(self))

    def __repr__(self) -> str:
        return f"<LoHMM with {len(self.transitions)} transitions and {len(self._row)} parameters>"

    @classmethod
    def parse(cls, text: str, source: str | None = None) -> LoHMM:
        """Read a model from its text; `source` is its name in messages.

        One clause a line, ended by a dot: `type(emacs(file,user)).` and `values(file,[f1,f2]).` as
        in a bias, `0.55 : emacs(F,U) <- start.`, `0.3 : emacs(G,U) <- emacs(F) - emacs(F,U).`.
        `select(emacs(F,U),F,[0.2,0.8]).` is the distribution from which F is drawn there; after
        `selection(type).` that of a type is `select(file,[0.2,0.8]).`. After `blocks([1,6]).` a
        transition with `, block(2)` at its end holds from step 6 on.

        Raises
        ------
        InputError
            With all that is wrong, and where.
        """
        return cls._read(Source(text, source))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LoHMM:
        """Read a model from a file; see `parse`."""
        return cls._read(read_source(path))

    @classmethod
    def _read(cls, source: Source) -> LoHMM:
        clauses, at = ModelReader(source).read()
        try:
            return cls(**vars(clauses), places=at)
        except InputError as error:
            raise InputError(first_problems(error.problems)) from None

    # Parameters

    @property
    def parameters(self) -> cl.Parameters:
        """All the probabilities in one row, with the distribution and the name of each."""
        return cl.Parameters(self._row.copy(), self.program.groups.copy(), self.program.names)

    def with_parameters(self, values: ArrayLike) -> LoHMM:
        """The same clauses with other probabilities, which are taken as they are.

        Raises InputError where they are not as many as `parameters` has, or one is negative.
        """
        try:
            row = np.array(values, np.float64)
        except (TypeError, ValueError):
            hint = "give them in the order of model.parameters"
            raise InputError("the parameters are no row of numbers", hint=hint) from None
        if row.shape != self._row.shape:
            what = f"expected {len(self._row)} parameters in one row, found shape {row.shape}"
            raise InputError(what, hint="give them in the order of model.parameters")
        if not np.all(np.isfinite(row) & (row >= 0)):
            where = int(np.argmin(np.isfinite(row) & (row >= 0)))
            what = f"the parameter {self.program.names[where]} is {row[where]}"
            raise InputError(what, hint="a probability is a number from 0 on")
        return self._with(row)

    def _with(self, row: Floats) -> LoHMM:
        numbers = row.tolist()
        n_start, starts = len(self.start), self.program.slot_starts.tolist()
        made = copy.copy(self)
        made._set(
            start=tuple(cl.Start(p, c.head) for p, c in zip(numbers, self.start, strict=False)),
            transitions=tuple(
                cl.Transition(p, t.head, t.observation, t.body, t.block)
                for p, t in zip(numbers[n_start:], self.transitions, strict=False)
            ),
            selections={
                slot: tuple(numbers[starts[d] : starts[d + 1]])
                for d, slot in enumerate(self.program.slots)
            },
            history=(),
            penalised_history=(),
            _row=row,
        )
        return made

    # Sequences

    def ground(self, sequences: Iterable[Iterable[Atom]]) -> Grounding:
        """The ground tables of some sequences; they serve for all parameters of these clauses.

        Raises InputError where there would be too many ground transitions.
        """
        return Grounder(self.program).ground(ck.checked_sequences(sequences))

    def log_probability(self, sequences: Iterable[Iterable[Atom]] | Grounding) -> Floats:
        """The log probability of each sequence; -inf for one that the model cannot show."""
        return inference.log_probabilities(self._grounded(sequences), self._row)

    def expected_counts(
        self, sequences: Iterable[Iterable[Atom]] | Grounding
    ) -> tuple[Floats, Floats]:
        """How often each sequence uses each parameter, and the log probabilities.

        The counts have a row for each sequence, in the order of `parameters`; a row of zeros for
        one that the model cannot show.
        """
        return inference.expected_counts(self._grounded(sequences), self._row)

    def forward(self, sequence: Iterable[Atom]) -> list[dict[Atom, float]]:
        """The log probability of each state after each step together with what was shown so far.

        The first column is before the first step. States of probability 0, and those that cannot
        show the next observation, are left out.
        """
        return inference.columns(self.ground([sequence]), self._row, forward=True)

    def backward(self, sequence: Iterable[Atom]) -> list[dict[Atom, float]]:
        """The log probability of what is shown after each step, given the state; as `forward`."""
        return inference.columns(self.ground([sequence]), self._row, forward=False)

    def viterbi(self, sequence: Iterable[Atom]) -> tuple[list[Atom], float]:
        """The most probable states, one more than observations, and their log probability.

        It is the log probability of going through these states and showing the sequence: all
        transitions from one state to the next with the same observation add up, as in `forward`. A
        state is a ground atom, with a value for each argument, whether an observation shows it or
        not. So is the last one: the values that are drawn for it count, though nothing follows.

        Of equal sequences the same one is always taken. No states and -inf where the model cannot
        show the sequence.
        """
        return inference.best_path(self.ground([sequence]), self._row)

    def sample(
        self,
        n: int = 1,
        *,
        length: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> list[list[Atom]]:
        """Draw sequences, each until its `end`, or of `length` observations if it does not end.

        Raises InputError where a model without `end` gets no length, or a sequence never ends.
        """
        n = as_count("n", n, 0)
        if length is None and not self.program.has_end:
            what = "a sequence of this model never ends"
            raise InputError(what, hint="give the length of the sequences to draw")
        most = MOST_STEPS if length is None else as_count("length", length, 0)
        sampler = Sampler(self.program, self._row, check_random_state(random_state))
        drawn = [sampler.sequence(most) for _ in range(n)]
        if length is None and not all(ended for _, ended in drawn):
            what = f"a drawn sequence did not end in {MOST_STEPS:,} steps"
            raise InputError(what, hint="give the length of the sequences to draw")
        return [sequence for sequence, _ in drawn]

    def fit(
        self,
        sequences: Iterable[Iterable[Atom]] | Grounding,
        *,
        max_iter: int = 15,
        tol: float = 1e-4,
        pseudo_count: float = 1.0,
        selection_pseudo_count: float = 1.0,
        sample_weight: Iterable[float] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> LoHMM:
        """Learn the parameters by Baum-Welch, from those of this model on.

        Parameters
        ----------
        sequences
            Lists of ground atoms, or what `ground` made of them.
        max_iter, tol
            Stop after so many iterations, or when one gains no more than this share of the
            penalised log-likelihood.
        pseudo_count, selection_pseudo_count
            Added to the count of each transition, and of each value that can be drawn. With 0 the
            likelihood itself is raised, and a distribution without counts stays as it is.
        sample_weight
            How much each sequence counts.
        random_state
            A seed begins with random parameters; None with those of this model.

        Returns
        -------
        LoHMM
            The fitted model, with its `history`.

        Raises
        ------
        InputError
            Where the model cannot show one of the sequences.
        """
        max_iter = as_count("max_iter", max_iter, 0)
        ck.check_not_negative("tol", tol)
        ck.check_not_negative("pseudo_count", pseudo_count)
        ck.check_not_negative("selection_pseudo_count", selection_pseudo_count)
        atoms = None if isinstance(sequences, Grounding) else ck.checked_sequences(sequences)
        grounding = self._grounded(sequences if atoms is None else atoms)
        factors = checked_weights(sample_weight, len(grounding.sizes))
        row = self._row
        if random_state is not None:
            row = drawn_values(self.program, check_random_state(random_state))
        self._refuse_impossible(grounding, row, factors, atoms)
        pseudo_counts = np.full(len(row), float(selection_pseudo_count))
        pseudo_counts[: self.program.n_clauses] = pseudo_count
        row, *histories = baum_welch(
            grounding, row, factors, pseudo_counts, max_iter=max_iter, tol=tol
        )
        return self._with(row).with_history(*histories)

    def with_history(self, history: Sequence[float], penalised: Sequence[float]) -> LoHMM:
        """The same model with the log-likelihoods of the iterations that made it."""
        made = copy.copy(self)
        made._set(history=tuple(history), penalised_history=tuple(penalised))
        return made

    def _grounded(self, sequences: Iterable[Iterable[Atom]] | Grounding) -> Grounding:
        if not isinstance(sequences, Grounding):
            return self.ground(sequences)
        if not sequences.program.same_clauses(self.program):
            what = "these ground tables are of a model with other clauses"
            raise InputError(what, hint="make them with the ground of this model")
        return sequences

    def _refuse_impossible(
        self, grounding: Grounding, row: Floats, factors: Floats, atoms: list[list[Atom]] | None
    ) -> None:
        scores = inference.log_probabilities(grounding, row)
        impossible = np.flatnonzero((scores == -np.inf) & (factors > 0))
        if not len(impossible):
            return
        first = int(impossible[0])
        hint = "give its constants to the model, or transitions that show it"
        what = f"the model cannot show sequence {first}"
        if atoms is not None:
            what += self._where_impossible(atoms[first], row)
        if len(impossible) > 1:
            what += f"; so for {len(impossible)} of {len(scores)}"
        raise InputError(what, hint=hint)

    def _where_impossible(self, sequence: list[Atom], row: Floats) -> str:
        """The first observation that no state can show, given those before."""
        grounding = Grounder(self.program).ground([sequence])
        columns = inference.columns(grounding, row, forward=True, last=False)
        dead = next((t for t, column in enumerate(columns) if not column), len(sequence))
        if dead == len(sequence):
            return ", which cannot end here"
        after = f" after {sequence[dead - 1]}" if dead else ""
        return f": no state shows {sequence[dead]} at step {dead + 1}{after}"
