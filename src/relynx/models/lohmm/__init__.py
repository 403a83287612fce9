"""Logical hidden Markov models: HMMs whose states and observations are atoms with variables."""
