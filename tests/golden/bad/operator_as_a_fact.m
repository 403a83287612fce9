begin(s1,a).
p(e1,a).
next_s(e1,e2).
p(e2,b).
follow_s(e1,e2).
followat_s(2,e1,e2).
follow_up(e1).
end.
