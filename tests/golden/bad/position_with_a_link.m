begin(s1,a).
a < next_s(b).
end.
