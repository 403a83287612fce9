begin(s1,a).
p(e1 a).
p(e1,X).
end
begin(s2,a).
p('open).
end.
