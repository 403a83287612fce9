begin(s1,a).
p(e1). p(e2). p(e3).
next_s(e1,e2).
next_s(e2,e3).
partner(e1,e3).
partner(e2,none).
partner(e3,none).
end.
