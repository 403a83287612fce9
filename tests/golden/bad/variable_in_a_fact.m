begin(s1,a).
p(e1,Alpha).
p(e1,X).
q(f(_)).
end.
