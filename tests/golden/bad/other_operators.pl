p(X) :- q(X,Y), X \= Y.
p(X) :- q(X,Y), X != Y.
p(X) :- q(X,Y), X <= Y.
p(X) :- q(X,Y), X => Y.
p(X) :- q(X,Y), X <> Y.
p(X) :- q(X,Y), X @< Y.
