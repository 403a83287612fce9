p([a, b).
