"""Labelled sequences of structured events, and the doors through which they come in."""
