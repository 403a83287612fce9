begin(s1,a).
p(e1).
next_s(e1,e2,e3).
next_s(e2,e3,e4).
end.
