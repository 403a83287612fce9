"""The Lynx classifier: mine patterns, select features, learn, and vote.

`classifier.LynxClassifier` is the door. A `pair_model` decides between some classes, `round_robin`
combines the votes of several, and `contributions` says what each pattern adds to a score.
`sparse_model` learns one of all classes, by a budget or exactly; `widening` finds what an inferred
bias lacks for it. `final_estimators` are those with a name and those that a model file can hold,
`checkpoint` the folders from which an interrupted fit resumes.
"""
