p(a:b).
p(a@b).
