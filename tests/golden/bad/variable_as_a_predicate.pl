Edge(a,b).
_x(a).
p(X) :- Q(X).
