"""TildeCRF: conditional random fields of boosted relational regression trees.

`labeller.TildeCRF` labels every event, `classifier.TildeCRFClassifier` classifies sequences. On the
way: `encoding` says which literals a tree may test, and arranges the facts, `candidates` finds
literals, `growing` counts them and grows a `trees` tree, `boosting` adds trees and does inference
over labels. `estimator` has what both share: their parameters, and what a model file holds.
"""
