p(a) § q.
p(“a”).
p(a – b).
X ≤ 3.
p(²).
