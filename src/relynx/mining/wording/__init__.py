"""Patterns as English phrases, for people who do not read Prolog.

`in_words` is the door. `sentences` builds the phrase and remembers which values it has mentioned,
`english` has articles, plurals and lists. The wording of a bias takes precedence.
"""

from relynx.mining.wording.sentences import in_words

__all__ = ["in_words"]
