"""The first-order language: terms, the parser, background rules, canonical forms.

`terms` has atoms and rules, `parser` reads them (`tokens`, `nodes`), and `canonical` decides
equivalence and subsumption. `datalog` checks background rules (`checks`) and derives the facts that
they entail: `strata` orders the rules, `bottom_up` applies them until nothing is new, and `bodies`
joins the literals of a rule (`joins`, `arithmetic`, `dimensions`). `tables` are facts as arrays.
Import from the modules: `terms` alone is needed when the command line starts.
"""
