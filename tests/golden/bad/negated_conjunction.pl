p(X) :- q(X), \+ (r(X), s(X)).
