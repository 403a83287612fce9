p(a, f(b).
q(c).
