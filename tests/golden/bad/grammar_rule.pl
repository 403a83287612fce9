a --> b, c.
?- p(X).
