p(it's).
q(b).
