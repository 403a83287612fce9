begin(s1,a).
he(e1,h(right,alpha)).
he(e2,g(right,alpha)).
he(e3,h(right)).
end.
