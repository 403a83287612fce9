edge(a,b) % from a to b
% next
edge(b,c).
