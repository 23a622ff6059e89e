"""Makes pages from the templates. Every value is escaped, and a page loads nothing but our style sheet."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import Response

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_TEMPLATES = Environment(
    loader=PackageLoader("holdfast.server"), autoescape=select_autoescape(default=True), undefined=StrictUndefined,
    trim_blocks=True, lstrip_blocks=True,
)  # fmt: skip
_STYLE = files("holdfast.server").joinpath("static/holdfast.css").read_bytes()
STYLE_PATH = f"/static/holdfast-{sha256(_STYLE).hexdigest()[:12]}.css"
"""The address of the style sheet, which changes with it."""


def page(template: str, /, status: int = 200, **values: Any) -> Response:
    """Return the page of that template."""
    text = _TEMPLATES.get_template(f"{template}.html").render(style=STYLE_PATH, **values)
    return Response(text, status, {"content-security-policy": POLICY}, "text/html")


async def answer_style(request: Request) -> Response:
    """Answer with the style sheet."""
    return Response(_STYLE, headers={"cache-control": "public, max-age=31536000, immutable"}, media_type="text/css")
