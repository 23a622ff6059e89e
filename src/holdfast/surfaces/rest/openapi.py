"""The OpenAPI 3.1 document, made from the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from holdfast._version import __version__
from holdfast.surfaces.rest.operations import SUBJECT_OF
from holdfast.surfaces.rest.problems import KINDS, ProblemView
from holdfast.surfaces.rest.table import PREFIX, Op

Key = tuple[str, Literal["validation", "serialization"]]

MEDIA = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "events": "text/event-stream",
    "html": "text/html",
    "css": "text/css",
}
PARAMETERS = {
    "project": "The project's id, percent-encoded; `organisation` for the organisation's own rules",
    "lesson": "The lesson's id, or its end of at least four characters",
    "session": "The session's id",
    "member": "The member's id",
    "team": "The team's id",
    "token": "The token's public id",
    "invitation": "The invitation's public id",
}
NUMBER = {"type": "integer", "minimum": 0, "maximum": 2**53}
REPLY_HEADERS: dict[str, dict[str, Any]] = {
    "ETag": {"description": "The version, for If-Match", "schema": {"type": "string"}},
    "Location": {"description": "The address of what was made", "schema": {"type": "string"}},
    "Holdfast-After": {"description": "The last position of the project's feed", "schema": NUMBER},
    "WWW-Authenticate": {"description": "How to sign in", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait", "schema": NUMBER},
    "Allow": {"description": "The methods of this address", "schema": {"type": "string"}},
}
ABOUT = (
    "What a team's memory holds, and everything the command line can do to it. Errors are problem+json (RFC 9457) with "
    "a hint. A page of a list names the cursor of the next one. A change that needs `If-Match` takes the ETag of what "
    "was read. With `Idempotency-Key`, a request that is sent again is answered again and changes nothing."
)


def make_openapi(table: Sequence[Op]) -> dict[str, Any]:
    """Return the document of the table's operations."""
    schemas, definitions = _schemas(table)
    paths: dict[str, dict[str, Any]] = {}
    for op in table:
        operations = paths.setdefault(PREFIX + (op.path if op.path != "/" else ""), {})
        operations[op.method.lower()] = _operation(op, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Holdfast", "version": __version__, "description": ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token of `POST /v1/tokens`"}
            },
        },
    }


def _schemas(table: Sequence[Op]) -> tuple[dict[Key, dict[str, Any]], dict[str, Any]]:
    """Return the schema of each operation's query, body and answer, and those that several share."""
    inputs: list[tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]] = []
    for op in table:
        inputs.append((f"{op.name}.query", "validation", TypeAdapter(op.query)))
        body = op.body or op.line
        if body is not None:
            inputs.append((f"{op.name}.body", "validation", TypeAdapter(body)))
        if op.out is not None:
            inputs.append((f"{op.name}.out", "serialization", TypeAdapter(op.out)))
    inputs.append(("problem", "serialization", TypeAdapter(ProblemView)))
    schemas, rest = TypeAdapter.json_schemas(inputs, ref_template="#/components/schemas/{model}")
    definitions: dict[str, Any] = rest.get("$defs", {})
    return {(str(name), mode): schema for (name, mode), schema in schemas.items()}, definitions


def _operation(op: Op, schemas: dict[Key, dict[str, Any]]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": op.name,
        "summary": op.summary,
        "tags": [SUBJECT_OF[op.name]],
        "parameters": [*_path_parameters(op), *_query_parameters(op, schemas), *_header_parameters(op)],
        "responses": _responses(op, schemas),
        "x-role": op.role or "",
        "x-verb": op.verb or "",
    }
    notes = " ".join(filter(None, (op.notes, _who(op))))
    if notes:
        described["description"] = notes
    if op.verb is None:
        described["security"] = []
    if op.body:
        schema = schemas[f"{op.name}.body", "validation"]
        described["requestBody"] = {
            "required": not op.optional_body, "content": {"application/json": {"schema": schema}},
        }  # fmt: skip
    if op.line:
        line = schemas[f"{op.name}.body", "validation"]
        lines = {"type": "string", "description": "A JSON document a line", "x-line": line}
        described["requestBody"] = {"required": True, "content": {"application/x-ndjson": {"schema": lines}}}
    return described


def _who(op: Op) -> str:
    return f"Needs the verb `{op.verb}` and at least the role {op.role}." if op.verb else "Needs no token."


def _path_parameters(op: Op) -> list[dict[str, Any]]:
    schema = {"type": "string", "minLength": 1, "maxLength": 300}
    return [
        {"name": name, "in": "path", "required": True, "description": PARAMETERS[name], "schema": schema}
        for name in op.parameters
    ]


def _query_parameters(op: Op, schemas: dict[Key, dict[str, Any]]) -> list[dict[str, Any]]:
    parameters = []
    schema = _resolved(schemas[f"{op.name}.query", "validation"], op)
    for name, described in schema.get("properties", {}).items():
        plain = _without_null(described)
        parameter = {"name": name, "in": "query", "required": name in schema.get("required", ())}
        if words := plain.pop("description", ""):
            parameter["description"] = words
        plain.pop("title", None)
        parameter["schema"] = plain
        if plain.get("type") == "array":
            parameter |= {"style": "form", "explode": False}
        parameters.append(parameter)
    return parameters


def _resolved(schema: dict[str, Any], op: Op) -> dict[str, Any]:
    """Return the query's own schema, which pydantic may have put among the shared ones."""
    return TypeAdapter(op.query).json_schema() if "$ref" in schema else schema


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that is there: a query has no null."""
    plain = {key: value for key, value in schema.items() if key not in ("anyOf", "default") or key == "default"}
    if "anyOf" in schema:
        (only,) = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
        plain |= only
    if plain.get("default", "") is None:
        del plain["default"]
    return plain


def _header_parameters(op: Op) -> list[dict[str, Any]]:
    headers: list[tuple[str, str, bool, dict[str, Any]]] = []
    if op.match:
        tag = {"type": "string", "pattern": '^("[!#-~]*"|\\*)$'}
        headers.append(("If-Match", "The ETag of the version that was read", op.match == "required", tag))
    if op.idempotent:
        key = {"type": "string", "pattern": "^[!-~]{1,200}$"}
        headers.append(("Idempotency-Key", "Any text that is new for each request; kept for a day", False, key))
    if op.reads_after:
        words = "A position of the project's feed that the answer has to have; 0: any"
        headers.append(("Holdfast-After", words, False, {"type": "string", "pattern": "^[0-9]{1,18}$"}))
    if op.medium == "events":
        headers.append(("Last-Event-ID", "The last event that was received", False, NUMBER))
    return [
        {"name": name, "in": "header", "required": required, "description": words, "schema": schema}
        for name, words, required, schema in headers
    ]


def _responses(op: Op, schemas: dict[Key, dict[str, Any]]) -> dict[str, Any]:
    responses: dict[str, Any] = {str(op.status): _success(op, schemas)}
    for status in op.statuses[1:]:
        problem = {"schema": schemas["problem", "serialization"]}
        response: dict[str, Any] = {
            "description": KINDS[status].title,
            "content": {"application/problem+json": problem},
        }
        names = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}
        if status in names:
            response["headers"] = {names[status]: REPLY_HEADERS[names[status]]}
        responses[str(status)] = response
    return responses


def _event(data: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a server-sent event whose data is a JSON document."""
    text = {"type": "string"}
    return {
        "id": text | {"description": "The position, for Last-Event-ID"},
        "event": {"const": "lesson"},
        "data": text | {"contentMediaType": "application/json", "contentSchema": data},
    }


def _success(op: Op, schemas: dict[Key, dict[str, Any]]) -> dict[str, Any]:
    response: dict[str, Any] = {"description": op.summary}
    media = MEDIA.get(op.medium)
    if media:
        schema: dict[str, Any] = {"type": "string"}
        if op.out is not None:
            out = schemas[f"{op.name}.out", "serialization"]
            event = {"type": "object", "required": ["id", "event", "data"], "properties": _event(out)}
            schema = {"json": out, "events": event}.get(op.medium, schema | {"x-line": out})
        response["content"] = {media: {"schema": schema}}
    names = ["Holdfast-After"] if op.is_write and "project" in op.parameters else []
    names += ["ETag"] if op.match or op.name == "read_lesson" else []
    names += ["Location"] if op.status == 201 else []
    if names:
        response["headers"] = {name: REPLY_HEADERS[name] for name in names}
    return response
