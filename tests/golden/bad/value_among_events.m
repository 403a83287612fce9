begin(s1,a).
p(e1,a).
p(e2,b).
p(b,a).
next_s(e1,e2).
end.
