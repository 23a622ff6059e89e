"""The page of routes, the OpenAPI document, and the reference, which are all made from the table."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

from holdfast.surfaces.rest.operations import OPERATIONS
from holdfast.surfaces.rest.problems import KINDS
from holdfast.surfaces.rest.table import PREFIX

from .world import World

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_names_every_operation_and_every_problem_and_runs_nothing(world: World) -> None:
    page = world.call("GET", "", role="")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    for op in OPERATIONS:
        assert f'id="{op.name}"' in page.text
        assert f"<b>{op.method}</b> {PREFIX}{op.path if op.path != '/' else ''}<" in page.text
    for kind in KINDS.values():
        assert f'id="{kind.slug}"' in page.text
    assert not re.search(r"<script|style=|onclick", page.text)
    assert world.call("GET", "/page.css", role="").headers["content-type"] == "text/css; charset=utf-8"


def test_the_openapi_document_has_every_operation_with_its_statuses(world: World) -> None:
    document = world.call("GET", "/openapi.json", role="").json()
    assert document["openapi"] == "3.1.0"
    described = {
        (method.upper(), path): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert len(described) == len(OPERATIONS)
    for op in OPERATIONS:
        operation = described[op.method, PREFIX + (op.path if op.path != "/" else "")]
        assert operation["operationId"] == op.name
        assert set(operation["responses"]) == {str(status) for status in op.statuses}
        assert ("security" in operation) == (op.verb is None)


def test_the_reference_is_up_to_date() -> None:
    """When this fails: python scripts/render_rest_docs.py"""
    script = runpy.run_path(str(ROOT / "scripts" / "render_rest_docs.py"), run_name="render_rest_docs")
    assert (ROOT / "docs" / "reference" / "rest.md").read_text(encoding="utf-8") == script["render"]()


def test_the_table_is_read_without_a_web_server() -> None:
    program = (
        "import sys; from holdfast.surfaces.rest.operations import OPERATIONS; assert OPERATIONS;"
        "print([name for name in ('starlette', 'uvicorn', 'sse_starlette', 'jinja2', 'psycopg')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
