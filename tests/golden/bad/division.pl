p(X) :- q(Y), X is Y / 2.
