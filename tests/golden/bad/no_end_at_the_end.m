begin(s1,a).
p(e1).
end.
begin(s2,b).
p(e1).
