begin(s1,a).
p(e1).
end.
end.
