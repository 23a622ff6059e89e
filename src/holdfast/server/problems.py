"""Answers to what the server itself refuses, as problem+json (RFC 9457)."""

from __future__ import annotations

import json
from http import HTTPStatus

from starlette.responses import Response


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return a problem of that status; the detail holds no word of the request."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return Response(json.dumps(body), status_code=status, headers=headers, media_type="application/problem+json")
