begin(s1,a).
p(e1), q(e1).
[r(e1)].
X.
end.
