begin(s1,a).
p(e1).
q(X) :- p(X).
end.
