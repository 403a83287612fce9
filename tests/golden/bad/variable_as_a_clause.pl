X.
Y :- p(Y).
