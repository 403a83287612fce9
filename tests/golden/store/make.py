"""Writes the files of this folder: `python make.py`.

They stand for all files that relynx ever wrote, so they are not made anew: a change of the format
adds files, under other names, and the old ones are read as ever.
"""

import json
from pathlib import Path

import relynx as rx
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

HERE = Path(__file__).parent
LISTS = ["abca", "bcab", "aabb", "cacb", "dabd", "bbda", "cddc", "dcba", "abab", "adda", "bdcd"]
LISTS = [[*text] for text in LISTS]
KINDS = ["ab" if "ab" in "".join(one) else "c" if "c" in one else "none" for one in LISTS]
NEW = [[*text] for text in ("abd", "cbb", "dddd", "zab", "b", "ccab")]
ROWS = [[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 1]]
OPTIONS = {"max_iter": 10, "random_state": 0, "significance": None, "n_features": None}


def answers(model, X):
    said = {"selected": [*model.selected_.texts()]} if hasattr(model, "selected_") else {}
    said["classes"] = model.predict(X).tolist()
    said["shares"] = model.predict_proba(X).tolist()
    return said


def write(name, model, said):
    path = HERE / f"{name}.relynx"
    if path.exists():
        print(f"{path.name} is there and stays")
        return
    rx.save(model, path)
    said = {"kind": type(model).__name__} | said
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in said.items())
    path.with_suffix(".json").write_text(f"{{\n{lines}\n}}\n")


def main():
    rule, y = rx.planted_rule(40, n_events=5, n_actions=3, n_objects=2, random_state=0)
    new, _ = rx.planted_rule(12, n_events=5, n_actions=3, n_objects=2, random_state=1)
    plain = [[["do", *(str(arg) for arg in atom.args[1:])] for atom in one.atoms
              if atom.predicate == "do"] for one in new]
    new = rx.from_lists([[tuple(event) for event in one] for one in plain])[0]
    model = rx.LynxClassifier(max_length=2, **OPTIONS | {"significance": 0.05}).fit(rule, y)
    write("lynx_rule_1", model, {"sequences": plain} | answers(model, new))

    X, new = rx.from_lists(LISTS)[0], rx.from_lists(NEW)[0]
    numbers = [len(kind) for kind in KINDS]
    bias = rx.Bias.infer(X)
    for name, final in (
        ("lynx_pairs_1", None),
        ("lynx_logistic_1", LogisticRegression(C=2.0)),
        ("lynx_scaled_1", make_pipeline(StandardScaler(), LogisticRegression())),
    ):
        model = rx.LynxClassifier(bias, max_length=2, final_estimator=final, **OPTIONS)
        model.fit(X, numbers)
        write(name, model, {"sequences": NEW} | answers(model, new))

    vectorizer = rx.PatternVectorizer(max_length=2, min_support=0.5).fit(X, KINDS)
    matrix = vectorizer.transform(new).toarray().tolist()
    patterns = [*vectorizer.patterns_.texts()]
    write("vectorizer_1", vectorizer, {"sequences": NEW, "matrix": matrix, "patterns": patterns})

    bayes = rx.PatternNB(0).fit(ROWS, [True, False, True, False, True, False])
    write("naive_bayes_1", bayes, {"rows": ROWS} | answers(bayes, ROWS))
    selector = rx.GraspSelector(5, n_features=1, random_state=0)
    selector.fit(ROWS, ["p", "q", "p", "q", "p", "q"])
    write("grasp_1", selector, {"rows": ROWS, "matrix": selector.transform(ROWS).tolist()})

    found = rx.mine(X, KINDS, bias, max_length=2, min_confidence=0.8)
    write("patterns_1", found, {"sequences": NEW, "patterns": [*found.texts()],
                                "supports": found.supports.tolist()})


if __name__ == "__main__":
    main()
