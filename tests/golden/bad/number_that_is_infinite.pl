p(1.0Inf).
q(1.5NaN).
