p(X) :- q(Y), X is Y ^ 2.
p(X) :- q(Y), X is Y ** 2.
