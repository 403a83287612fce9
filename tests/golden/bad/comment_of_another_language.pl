# the edges
edge(a,b).
// more
edge(b,c).
-- and more
