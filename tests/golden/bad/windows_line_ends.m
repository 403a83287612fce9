begin(s1,a).
p(e1,X).
p(e1,a)
end.
