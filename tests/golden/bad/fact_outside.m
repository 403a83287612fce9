p(e0).
p(e1).
begin(s1,a).
end.
q(e1).
