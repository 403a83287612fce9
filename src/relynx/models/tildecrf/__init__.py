"""TildeCRF: conditional random fields of boosted relational regression trees.

`labeller.TildeCRF` labels every event, `classifier.TildeCRFClassifier` classifies sequences. On the
way: `literal_language` says which literals a tree may test, `encoding` arranges the facts,
`candidates` finds literals, `growing` counts them and grows a `trees` tree, `boosting` adds trees,
`chains` does inference over labels. `model_file` is the state in a model file.
"""
