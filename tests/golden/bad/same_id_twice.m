begin(s1,a).
p(e1).
end.
begin(s2,a).
end.
begin(s1,a).
p(e2).
end.
