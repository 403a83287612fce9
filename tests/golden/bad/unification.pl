p(X) :- q(X,Y), X = Y.
