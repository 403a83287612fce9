begin(s1,a).
p(X).
end.
