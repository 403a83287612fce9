"""Patterns in English sentences."""
