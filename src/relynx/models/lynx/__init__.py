"""The Lynx classifier: mine patterns, select features, learn, and vote.

`classifier.LynxClassifier` is the door. A `pair_model` decides between some classes; `round_robin`
combines the votes of several; `contributions` says what each pattern adds to a score.
"""
