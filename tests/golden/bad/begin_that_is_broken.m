begin(s1 a).
p(e1).
end.
begin(s2,a).
p(e1).
end.
