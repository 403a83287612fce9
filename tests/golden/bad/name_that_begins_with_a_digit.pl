p(3d, 2nd).
