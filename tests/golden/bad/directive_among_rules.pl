:- dynamic(p).
p(a).
