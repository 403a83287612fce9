p(a)).
q(b)].
