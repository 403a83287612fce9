"""The first-order language: terms, the parser, background rules, canonical forms."""
