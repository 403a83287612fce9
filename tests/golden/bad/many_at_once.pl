p(a b).
q(a,
 r(x)).
s('a).
t(a).
u(a.
V(a).
