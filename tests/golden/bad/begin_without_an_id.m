begin.
p(e1).
end.
begin(s1,a,b).
p(e1).
end.
