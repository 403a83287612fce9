p(a,
  b
q(c).
