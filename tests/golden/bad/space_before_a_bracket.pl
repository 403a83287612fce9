edge (a,b).
