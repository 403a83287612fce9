"""Inference in logical hidden Markov models.

`program` is a model in numbers, which `ground` grounds for some sequences; on these tables
`expectations` computes probabilities and best paths, and runs Baum-Welch, and `sampling` draws
sequences. The kernels work on the ground tables.
"""
