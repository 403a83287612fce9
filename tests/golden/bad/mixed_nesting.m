begin(s1,a).
he(e1,h(right,alpha)).
he(e2,right).
st(e1,plus).
st(e2,s(plus)).
end.
