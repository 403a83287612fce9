begin(s1,a).
p(e1,x).
next_s(e1,e2).
p(e2,y).
next_s(e2,e3).
p(e3,e1).
end.
