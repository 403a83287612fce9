:- dynamic p/1.
:- module(x, [p/1
begin(s1,a).
p(e1).
end.
