"""The first-order language: terms, the parser, background rules, canonical forms.

`terms` has atoms and rules, `parser` reads them (`tokens`, `nodes`), and `canonical` decides
equivalence and subsumption. `datalog` applies background rules until nothing is new: `checks` finds
what is wrong with them and orders them, and `bodies` joins the literals of a rule (`arithmetic`,
`dimensions`). `tables` are facts as arrays, and joins of them. Import from the modules: `terms`
alone is needed when the command line starts.
"""
