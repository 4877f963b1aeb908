"""How Sphinx builds these pages: from the docstrings, the guide and the examples, and from nothing outside."""

import re

import typer

from surefoot import __version__
from surefoot.cli._app import app as commands

project = "surefoot"
author = "The surefoot developers"
copyright = "The surefoot developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
# Measured again now; the eight pages take their numbers from them.
exclude_patterns += [
    f"results/{name}.rst"
    for name in (
        "error-prior",
        "error-size-prior",
        "intervals",
        "never-worse",
        "scale",
        "series-errors",
    )
]
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
    app.connect("source-read", list_commands)


def shorten_title(_app, docname, source):
    """Call the page of a name by the name alone; the signature below has the whole path."""
    if docname.startswith("api/"):
        name = docname.rpartition(".")[2]
        source[0] = f"{name}\n{'=' * len(name)}\n" + source[0].split("\n", 2)[2]


def list_commands(app, docname, source):
    """Add the help of each command, and of its options, to the page of commands."""
    if docname == "reference/commands":
        app.env.note_reread()  # it depends on the commands, not on its file alone
        for name, command in typer.main.get_command(commands).commands.items():
            title = f"surefoot {name}"
            lines = [title, "-" * len(title), "", *literal(command.help).splitlines(), ""]
            lines += [".. list-table::", "   :widths: 28 72", ""]
            for option in command.params:
                if option.name != "help":
                    lines += [f"   * - ``{shown(option)}``", f"     - {described(option)}"]
            source[0] += "\n".join(lines) + "\n\n"


def shown(option):
    """Name of an option and of its value, as one types them."""
    if option.param_type_name == "argument":
        return (option.metavar or option.name).strip("{}[]").upper()
    return option.opts[0] if option.is_flag else f"{option.opts[0]} {option.metavar or 'VALUE'}"


def described(option):
    """Help of an option, with its default if that says anything."""
    text = " ".join(literal(option.help or "").split())
    has_default = option.default not in (None, False, ...) and "efault:" not in text
    return text + (f" Default: ``{option.default}``." if has_default else "")


def literal(text):
    """Help with its options as code: quotation marks and dashes of a text are typeset."""
    return re.sub(r"(?<![\w`-])--[a-z][a-z-]*", r"``\g<0>``", text)
