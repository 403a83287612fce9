"""The first-order language: terms, the parser, background rules, canonical forms.

`terms` has atoms and rules, `parser` reads them (`tokens`, `nodes`), and `canonical` decides
equivalence and subsumption. `datalog` derives the facts that background rules entail: `strata`
orders the rules, `bottom_up` applies them until nothing is new, and `bodies` joins the literals of
a rule (`joins`, `arithmetic`, `dimensions`, `checks`). `tables` are facts as arrays of codes.
Import from the modules: `terms` alone is needed when the command line starts.
"""
