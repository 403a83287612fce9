path(X,Y) :- edge(X,Z) edge(Z,Y).
