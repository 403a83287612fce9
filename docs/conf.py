"""Settings of the documentation."""

import os

from docutils import nodes
from latex2mathml.converter import convert

import relynx

os.environ.setdefault("MPLBACKEND", "agg")  # the gallery draws without a screen

project = "relynx"
author = "the relynx contributors"
copyright = author
release = version = relynx.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1,
    "ignore_repr_types": r"matplotlib[.]",
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
}

html_theme = "furo"
html_title = f"relynx {release}"
html_math_renderer = "mathml"  # browsers draw it themselves: the pages ask no other server


def write_formula(page, node):
    """A formula inside a line."""
    page.body.append(convert(node.astext()))
    raise nodes.SkipNode


def write_block(page, node):
    """A formula on lines of its own."""
    page.body.append(f'<p class="formula">{convert(node.astext(), display="block")}</p>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (write_formula, None), (write_block, None))
