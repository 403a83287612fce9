begin(s1,a).
p(e1,a).
p(e2).
end.
begin(s2,a).
p(e1,b,c).
p.
end.
