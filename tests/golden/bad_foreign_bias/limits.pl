body_pred(short,1).
max_body(0). max_vars(few).
max_clauses.
