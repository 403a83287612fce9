begin(s1,a).
p(e1).
end.
begin(s2).
p(e1).
end.
