begin(S1,a).
p(e1).
end.
begin(f(x),a).
end.
