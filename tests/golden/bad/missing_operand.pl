p(X) :- q(X), X > .
r(X) :- q(X), < 3.
