"""Settings of the documentation."""

import relynx

project = "relynx"
author = "the relynx contributors"
copyright = author
release = version = relynx.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"relynx {release}"
