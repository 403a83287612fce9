"""What the benchmarks ask, of whom, and how they report it."""
