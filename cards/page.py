"""Pages for people: templates of this folder, every value escaped."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2


def render(template: str, **values: Any) -> str:
    """The template of that name with the values filled in; a value that is missing is an error."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("hannun.cards"),
        autoescape=jinja2.select_autoescape(("html",)),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
