begin(s1,a).
a < 3 < X < (b, 4).
end.
