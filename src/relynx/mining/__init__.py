"""Mining: every frequent pattern that a language allows, each exactly once.

`search.mine` is the door, and `levels` calls it length by length; `bounded` searches as far as a
bound asks for it. `input_checks` checks what it is given; `engines` enumerate and count; `budget`
and `workers` limit and parallelise the work; `report` says what was searched. `matching` tells
which sequences a pattern covers, `patterns` holds patterns and sets of them in their order,
`partitioned` searches data larger than memory, and `wording` puts patterns into English, with the
articles, plurals and quotation marks of `english`.
"""
