begin(s1,a).
p(é).
end.
