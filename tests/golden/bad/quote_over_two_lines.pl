p('two
lines').
q(b).
