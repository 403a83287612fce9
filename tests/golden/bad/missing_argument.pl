p(,a).
p(a,,b).
p(a,).
