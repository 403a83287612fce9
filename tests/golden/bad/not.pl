p(X) :- q(X), not r(X).
p(X) :- q(X), not (r(X)).
p(not).
