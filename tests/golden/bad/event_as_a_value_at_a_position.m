begin(s1,a).
a(x) < a(y) < a(z).
next_t(z,w).
end.
