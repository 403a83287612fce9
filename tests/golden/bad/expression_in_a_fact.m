begin(s1,a).
day(e1,2020-01-31).
day(e2,-x).
end.
