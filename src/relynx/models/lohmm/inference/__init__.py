"""Inference in logical hidden Markov models.

A model becomes a `program` of numbers, which is grounded for some sequences (`ground`); on those
tables `expectations` computes probabilities and best paths, `training` runs Baum-Welch, and
`sampling` draws sequences.
"""
