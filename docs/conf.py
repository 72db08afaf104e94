"""How the documentation site is built: ``make docs``, strictly."""

from importlib.metadata import version as version_of
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

project = html_title = "posgeom"
author = project_copyright = "The posgeom developers"
version = release = version_of("posgeom")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_typehints = "none"  # the docstrings have them, in words
autodoc_member_order = "bysource"
default_role = "py:obj"
html_theme = "furo"
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(convert(node.astext()))
    raise SkipNode


def _display(writer: Any, node: Any) -> None:
    writer.body.append(convert(node.astext(), display="block"))
    raise SkipNode


def _bars(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Bars in docstrings are magnitudes, not substitutions."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app: Any) -> None:
    """Formulas are MathML, which browsers show without a script or the network."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_display, None))
    app.connect("autodoc-process-docstring", _bars)
