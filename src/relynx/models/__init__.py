"""Classifiers of sequences."""
