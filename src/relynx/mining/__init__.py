"""Mining: every frequent pattern that a language allows, each exactly once.

`search.mine` is the door. `input_checks` and `thresholds` turn what it is given into what an engine
takes; `engines` enumerate and count; `filters` select from the result; `budget`, `workers` and
`checkpoint` limit, parallelise and resume the work; `report` and `advice` say what was searched.
`levels` and `bounded` search by a budget and by a bound. `matching` tells which sequences a pattern
covers, `patterns` holds patterns and sets of them, `ordering` sorts them, `partitioned` searches
data larger than memory, and `wording` puts patterns into English.
"""
