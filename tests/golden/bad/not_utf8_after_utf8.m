begin(s1,a).
p(Ã©,ÿþ).
end.
