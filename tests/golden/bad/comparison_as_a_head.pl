X < 3 :- p(X).
a == b.
