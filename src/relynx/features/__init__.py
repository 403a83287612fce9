"""Patterns as features: 0/1 matrices, naive Bayes on them, and the choice of the best."""
