"""Inference in logical hidden Markov models.

`program` is a model in numbers, from which sequences are drawn, and which `ground` grounds for some
sequences; on these tables `expectations` computes probabilities and best paths, and runs
Baum-Welch. The kernels work on the ground tables.
"""
