begin(s1,a).
a(x) < a(y,z) < b.
a(e1).
end.
