"""Settings of the site for Sphinx; `tools/build_site.py` gathers its pages and runs it."""

import os
from typing import Any, ClassVar

from docutils import nodes
from latex2mathml.converter import convert
from pygments.lexer import RegexLexer
from pygments.token import Generic, Text
from sphinx.application import Sphinx

import closeread

project = "closeread"
author = "The closeread developers"
project_copyright = f"{author}, Apache-2.0"
version = release = closeread.__version__

extensions = ["myst_nb", "sphinx_copybutton"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = os.environ.get("CLOSEREAD_NOTEBOOKS", "off")
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
smartquotes = False  # options begin with two hyphens
exclude_patterns = ["jupyter_execute", "**.ipynb_checkpoints", "extra"]

html_title = f"closeread {release}"
html_theme = "furo"
html_static_path = ["style"]
html_extra_path = ["extra"]
html_css_files = ["closeread.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
html_math_renderer = "mathml"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"


class Console(RegexLexer):
    """Commands stand out from what they print, which is left as it is: `# questions` in a table is no prompt."""

    tokens: ClassVar = {"root": [(r"\$ .*\n", Generic.Strong), (r".*\n", Text)]}


def setup(app: Sphinx) -> None:
    """Write formulas as MathML, which browsers draw without a script."""
    app.add_lexer("console", Console)

    def draw(display: str) -> Any:
        def visit(writer: Any, node: nodes.math | nodes.math_block) -> None:
            drawn = convert(node.astext().strip(), display=display)
            writer.body.append(
                f'<div class="formula">{drawn}</div>' if display == "block" else drawn
            )
            raise nodes.SkipNode

        return visit, None

    app.add_html_math_renderer("mathml", draw("inline"), draw("block"))
