p(a).
/* all of this
q(b).
