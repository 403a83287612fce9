begin(s1,a).
p(e1).
end.
begin(s1,b).
p(e1).
end.
