"""Explanations of single predictions, and the HTML report of a model.

The doors are `explain.explain`, which returns an `explanation.Explanation` (plain data, and its
text; its counterfactuals are found by `flips`), and `html.report`. A report is data first
(`report_data`, `scores`), then a page: `page_data` packs what the scripts in `templates`
read. Nothing is imported here, so that `explain` does not load jinja2.
"""
