"""Patterns as features: the 0/1 matrix, naive Bayes on it, and the selection of columns.

The doors are `vectorizer.PatternVectorizer`, `naive_bayes.PatternNB` and `grasp.GraspSelector`.
`candidates` says which patterns may become columns, and finds by cross-validation how many to
select. GRASP works on `grasp_tables`.
`sparse_logistic` learns from columns that are given, `exact_logistic` from all of a language.
"""
