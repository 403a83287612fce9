"""Plain classifiers of words that every table of accuracies shows beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

Words = Sequence[Sequence[str]]
Predict = Callable[[Words], NDArray[np.str_]]


def baselines(words: Words, y: NDArray[np.str_]) -> dict[str, Predict]:
    """Fitted by name: majority, a Markov chain for each class, naive Bayes and SVM on n-grams."""
    names, counts = np.unique(y, return_counts=True)
    return {
        "majority": lambda new: np.full(len(new), names[counts.argmax()]),
        "Markov chain per class": _markov(words, y),
        "1-3-gram naive Bayes": _n_grams(MultinomialNB(), words, y),
        "1-3-gram linear SVM": _n_grams(LinearSVC(random_state=0), words, y),
    }


def _n_grams(learner: object, words: Words, y: NDArray[np.str_]) -> Predict:
    counts = CountVectorizer(analyzer=_grams)
    model: Pipeline = make_pipeline(counts, learner).fit(words, y)
    return lambda new: np.asarray(model.predict(new))


def _grams(sequence: Sequence[str]) -> list[str]:
    return [" ".join(sequence[i : i + n]) for n in (1, 2, 3) for i in range(len(sequence) - n + 1)]


def _markov(words: Words, y: NDArray[np.str_], smoothing: float = 0.5) -> Predict:
    """First words and steps counted for each class; unseen ones get the smoothing."""
    names, sizes = np.unique(y, return_counts=True)
    n_words = len({word for one in words for word in one}) + 1
    steps = {name: Counter[tuple[str, str]]() for name in names}
    for one, name in zip(words, y, strict=True):
        steps[name].update(pairwise(["", *one]))
    left = {name: Counter[str]() for name in names}
    for name in names:
        for (word, _), n in steps[name].items():
            left[name][word] += n

    def score(one: Sequence[str], name: str) -> float:
        return sum(
            np.log((steps[name][pair] + smoothing) / (left[name][pair[0]] + smoothing * n_words))
            for pair in pairwise(["", *one])
        )

    def predict(new: Words) -> NDArray[np.str_]:
        logs = np.array([[score(one, name) for name in names] for one in new])
        return np.asarray(names[(logs + np.log(sizes / sizes.sum())).argmax(axis=1)])

    return predict
