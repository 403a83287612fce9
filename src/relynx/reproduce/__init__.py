"""The paper's experiments on the bundled protein folds, beside the published figures.

`runs` says what is run and what was published, does the cross-validations and resumes after an
interruption; `results` shows what came out. `relynx reproduce` is the command.
"""
