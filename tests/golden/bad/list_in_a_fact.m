begin(s1,a).
p(e1,[a,b]).
end.
