"""Renders docs/reference/rest.md from the table of operations of the REST interface.

python scripts/render_rest_docs.py            writes the file
python scripts/render_rest_docs.py --check    exit with 1 if it is not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.surfaces.rest.page import by_subject
from holdfast.surfaces.rest.problems import KINDS

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "rest.md"

HEAD = """# The REST interface

This page is made from the table of operations by `scripts/render_rest_docs.py`; edit the table
(`src/holdfast/surfaces/rest/operations`), not this file. A running server shows the same at `/v1`, and for programs at
`/v1/openapi.json` (OpenAPI 3.1).

**Tokens.** `Authorization: Bearer hf_…`. Each operation names the least role, and the verb that the token must allow.
A token for some projects alone can do nothing to the organisation. What a token may not see is not found (404), in the
same words as what does not exist. `{project}` is the project's id, percent-encoded; the id `organisation` stands for
the organisation's own rules, which reach all its projects.

**Lists** answer `items` and `next`; `next` is the `cursor` of the next page, and empty on the last one. A cursor that
the server did not make for this list is refused (410). Lists in a query are written `a,b`. A key of a query that is
there twice is an error, and so is a header that is read.

**Changes.** A change of a lesson that needs `If-Match` takes the `ETag` of what was read: 428 without it, 412 if
the lesson was changed since. With `Idempotency-Key`, a request that is sent again within a day gets the first answer,
with `Idempotency-Replayed: true`, and changes nothing; the same key with another request is refused (409). The answer
to a change in a project has `Holdfast-After`, the last position of the project's feed. Everything that one request
changes is one transaction, with its entry in the audit log.

**Lines.** Bodies and answers in bulk are `application/x-ndjson`: one JSON document a line. A body with a wrong line is
refused as a whole, with the line's number. Encoded bodies (`Content-Encoding`) are refused.

**Live changes.** `GET /v1/projects/{project}/changes` sends server-sent events. The id of an event is its position;
with `Last-Event-ID` the stream goes on after it. A stream ends after five minutes, and clients come back by themselves.

**Errors** are `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, a `hint` that says what to do
next, and the `request`'s id as in the server's log. A body or query with faults has `errors`, with `where` and `what`.
"""


def main() -> int:
    """Write the file, or with --check return 1 if it is not up to date, else 0."""
    wanted = render()
    if "--check" in sys.argv[1:]:
        current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        return 0 if current == wanted else 1
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


def render() -> str:
    """Return the whole file's text."""
    lines = [HEAD, "| status | `type` ends in | meaning |", "|---|---|---|"]
    lines += [f"| {status} | `{kind.slug}` | {kind.title}: {kind.hint} |" for status, kind in KINDS.items()]
    for subject, rows in by_subject():
        lines += ["", f"## {subject}", ""]
        for row in rows:
            lines += [*_lines_of(row), ""]
    return "\n".join(lines).rstrip() + "\n"


def _lines_of(row: dict[str, Any]) -> Iterator[str]:
    who = f"{row['role']}, verb `{row['verb']}`" if row["role"] else "everybody, without a token"
    yield f"### {row['method']} {row['path']}"
    yield ""
    yield f"{row['summary']} {row['notes']}".strip()
    yield ""
    yield f"- `{row['name']}`; who: {who}"
    for title, fields in (("query", row["query"]), ("each line" if row["is_lines"] else "body", row["body"])):
        if fields:
            yield f"- {title}: {', '.join(map(_field, fields))}"
    if row["headers"]:
        yield f"- headers: {', '.join(row['headers'])}"
    media = {"ndjson": ", JSON lines", "events": ", server-sent events"}.get(row["medium"], "")
    yield f"- answers: {row['status']}{media}; problems {', '.join(map(str, row['statuses']))}"


def _field(field: dict[str, Any]) -> str:
    marks = " (required)" if field["required"] else ""
    return f"`{field['name']}`{marks}"


if __name__ == "__main__":
    sys.exit(main())
