"""How Sphinx builds these pages: from the docstrings, the guide and the examples, and from nothing outside."""

from surefoot import __version__

project = "surefoot"
author = "The surefoot developers"
copyright = "The surefoot developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
default_role = "literal"  # docstrings and pages write `name` for code

# A page for each name in api.rst. The class page documents each method once, where autodoc puts it.
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_typehints = "none"  # numpydoc's Parameters say it in words
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    # Left out: what scikit-learn gives every estimator, with links into its own pages, and what only
    # surefoot itself calls.
    "inherited-members": "BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, tuple",
    "exclude-members": "get_metadata_routing, set_fit_request, set_score_request, set_output, "
    "is_fitted_on, cached_scores, cached_cell_scores",
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "reference_url": {"surefoot": None},
    "image_srcset": ["2x"],
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = "surefoot"
html_static_path = ["_static"]
html_css_files = ["surefoot.css"]
html_copy_source = False
html_show_copyright = False


def setup(app):
    app.connect("source-read", shorten_title)


def shorten_title(_app, docname, source):
    """Call the page of a name by the name alone; the signature below has the whole path."""
    if docname.startswith("api/"):
        name = docname.rpartition(".")[2]
        source[0] = f"{name}\n{'=' * len(name)}\n" + source[0].split("\n", 2)[2]
