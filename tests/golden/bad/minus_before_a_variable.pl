p(X) :- q(Y), X is -Y.
q(+3).
