"""Pages for people: templates of this folder, every value escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jinja2

_MARKS = re.compile(r"[<>&|\[\]*`\\]")
"""Characters that could begin Markdown, HTML, or another cell."""


def render(template: str, **values: Any) -> str:
    """The template of that name with the values filled in; a value that is missing is an error."""
    return _environment().get_template(template).render(**values)


def render_markdown(template: str, **values: Any) -> str:
    """The same of a Markdown template, in which lines of nothing but statements leave no line.

    Its filters: `cell` keeps Markdown of our own in one cell of a table, `plain` makes text of others harmless.
    """
    return _environment().overlay(trim_blocks=True, lstrip_blocks=True).get_template(template).render(**values)


def cell(text: Any) -> str:
    """Markdown on one line that ends no cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def plain(text: Any) -> str:
    """Text as it is: nothing in it is Markdown or HTML to whoever renders it."""
    return _MARKS.sub(r"\\\g<0>", " ".join(str(text).split()))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hannun.cards"),
        autoescape=jinja2.select_autoescape(("html",)),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cell": cell, "plain": plain}
    return environment
