"""The page of routes: everything that the interface can do, to be read from top to bottom. It has no script."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined, select_autoescape

from holdfast._version import __version__
from holdfast.surfaces.rest.operations import SUBJECTS
from holdfast.surfaces.rest.problems import KINDS
from holdfast.surfaces.rest.table import PREFIX, Op

HERE = "holdfast.surfaces.rest"


def make_page(openapi: Mapping[str, Any]) -> tuple[str, str]:
    """Return the page and its style sheet."""
    folder = files(HERE) / "templates"
    environment = Environment(
        autoescape=select_autoescape(default=True), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((folder / "page.html").read_text("utf-8"))
    page = template.render(version=__version__, subjects=by_subject(), problems=KINDS, about=openapi["info"])
    return page, (folder / "page.css").read_text("utf-8")


def by_subject() -> list[tuple[str, list[dict[str, Any]]]]:
    """Return what is told of each operation, under its heading."""
    return [(subject, [_row(op) for op in operations]) for subject, operations in SUBJECTS.items()]


def _row(op: Op) -> dict[str, Any]:
    model = op.body or op.line
    return {
        "name": op.name,
        "method": op.method,
        "path": PREFIX + (op.path if op.path != "/" else ""),
        "summary": op.summary,
        "role": op.role or "",
        "verb": op.verb or "",
        "notes": op.notes,
        "query": [_field(name, field) for name, field in op.query.model_fields.items()],
        "body": [_field(name, field) for name, field in model.model_fields.items()] if model else [],
        "is_lines": op.line is not None,
        "headers": _headers(op),
        "medium": op.medium,
        "status": op.status,
        "statuses": op.statuses[1:],
    }


def _field(name: str, field: Any) -> dict[str, Any]:
    return {"name": name, "required": field.is_required(), "description": field.description or ""}


def _headers(op: Op) -> list[str]:
    headers = [f"If-Match ({op.match})"] if op.match else []
    headers += ["Idempotency-Key"] if op.idempotent else []
    headers += ["Holdfast-After"] if op.reads_after else []
    return headers + (["Last-Event-ID"] if op.medium == "events" else [])
