p(X) :- q(X) ; r(X).
p(X) :- q(X) -> r(X).
p(X) :- q(X) & r(X).
p(X) :- q(X) && r(X).
p(X) :- q(X) || r(X).
p(X) :- q(X) | r(X).
p(X) :- ~ q(X).
