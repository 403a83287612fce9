begin(s1,a).
p(e1).
begin(s2,a).
q(e1).
end.
end.
