p('abc).
q(b).
