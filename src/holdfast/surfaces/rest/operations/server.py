"""The server itself: the page of routes, its description for programs, and its version. Nobody needs a token."""

from __future__ import annotations

from typing import Any

from holdfast._version import __version__
from holdfast.surfaces.rest import models
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.table import Op, OpAnswer


def read_page(call: OpCall) -> OpAnswer:
    """Return the page of routes."""
    return OpAnswer(value=call.shared.described.page)


def read_style(call: OpCall) -> OpAnswer:
    """Return the page's style sheet."""
    return OpAnswer(value=call.shared.described.style)


def read_openapi(call: OpCall) -> OpAnswer:
    """Return the OpenAPI document."""
    return OpAnswer(value=call.shared.described.openapi)


def read_version(call: OpCall) -> OpAnswer:
    """Return the version."""
    return OpAnswer(value={"version": __version__, "api": "v1"})


OPERATIONS = (
    Op(
        method="GET", path="/", name="read_page", verb=None, call=read_page, medium="html",
        summary="Read the page of routes.",
    ),
    Op(
        method="GET", path="/page.css", name="read_style", verb=None, call=read_style, medium="css",
        summary="Read the style sheet of the page of routes.",
    ),
    Op(
        method="GET", path="/openapi.json", name="read_openapi", verb=None, call=read_openapi,
        summary="Read this interface as an OpenAPI 3.1 document.", out=dict[str, Any],
    ),
    Op(
        method="GET", path="/version", name="read_version", verb=None, call=read_version,
        summary="Read the server's version.", out=models.VersionInfo,
    ),
)  # fmt: skip
