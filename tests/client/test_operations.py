"""The clients send what the server's table of operations names, and both have every operation."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime
from types import FunctionType
from typing import Any
from urllib.parse import unquote

import pytest
from pydantic import ValidationError

from holdfast.bootstrap import Memory
from holdfast.client import operations
from holdfast.client.client import AsyncClient, Client
from holdfast.client.operations import Place
from holdfast.client.requests import HttpRequest
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.errors import InvalidValueError
from holdfast.surfaces.rest.operations import OPERATIONS
from holdfast.testing.builders import make_lesson

AT = datetime(2026, 11, 28, tzinfo=UTC)
NOT_IN_CLIENTS = {
    "list_documents", "send_documents", "list_sealed", "send_sealed",  # sync exchanges these
    "watch_changes", "read_page", "read_style", "read_openapi",
}  # fmt: skip
"""Operations for browsers, for sync, and for programs that follow a stream."""
MADE = {
    name: function
    for name, function in vars(operations).items()
    if isinstance(function, FunctionType)
    and function.__module__ == operations.__name__
    and list(inspect.signature(function).parameters)[:1] == ["at"]
}
ROUTES = {(op.method, op.path): op for op in OPERATIONS}


class Template(Place):
    """Returns the path's template in place of the path."""

    __slots__ = ()

    def path(self, template: str, **parameters: str) -> str:
        return template


def values_for(name: str, parameter: inspect.Parameter) -> Any:
    if parameter.annotation in ("Lesson", Lesson):
        return make_lesson()
    if parameter.name == "events":
        return [Event(id="e", session="s", host="own", kind="prompt", at=AT, key="prompt:1", text="hello")]  # type: ignore[arg-type]
    if parameter.name == "lines":
        return ['{"insight": "Round half to even", "kind": "convention"}']
    if parameter.name == "call":
        return {"session_id": "s", "hook_event_name": "SessionEnd", "cwd": ""}
    return {"verdict": "helped", "reason": "stale", "verb": "merge"}.get(parameter.name, "a1b2c3d4")


CHANGES: dict[str, dict[str, Any]] = {
    "revise": {
        "insight": "Round half up",
        "files": ("a.py",),
        "topic_key": "rounding",
        "when": {"paths": ("a.py",), "standing": True},
    },
    "undo": {"change": "a1b2c3d4"},
    "edit": {"paths": ("a.py",), "standing": True},
    "change_organisation": {"rules": {"confirmations": 2}},
    "change_project": {"codeowners": "* @ada"},
    "change_member": {"role": "reviewer"},
    "change_team": {"members": ["a1b2c3d4"]},
}


def request_of(name: str, place: Place) -> HttpRequest[Any]:
    parameters = list(inspect.signature(MADE[name]).parameters.values())[1:]
    positional = [
        values_for(name, each)
        for each in parameters
        if each.default is inspect.Parameter.empty and each.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    return MADE[name](place, *positional, **CHANGES.get(name, {}))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", sorted(MADE))
def test_an_operation_sends_what_the_server_takes(name: str) -> None:
    request = request_of(name, Template(project="p"))
    op = ROUTES[request.method, request.path]
    assert set(request.query) <= set(op.query.model_fields)
    headers = {header.lower() for header in request.headers}
    assert ("if-match" in headers) >= (op.match == "required")
    assert "idempotency-key" not in headers or op.idempotent or request.method == "POST"
    if op.line is not None:
        for line in (request.body or b"").splitlines():
            op.line.model_validate_json(line)
    elif op.body is not None:
        op.body.model_validate_json(request.body or b"{}")
    else:
        assert json.loads(request.body or b"{}") == {}


def test_every_operation_of_the_server_has_its_method() -> None:
    sent = {(request.method, request.path) for name in MADE for request in [request_of(name, Template(project="p"))]}
    assert {op.name for route, op in ROUTES.items() if route not in sent} <= NOT_IN_CLIENTS


def test_a_wrong_body_would_be_noticed() -> None:
    op = ROUTES["POST", "/projects/{project}/lessons"]
    assert op.body is not None
    with pytest.raises(ValidationError):
        op.body.model_validate_json(operations.feedback(Place(project="p"), "a1b2", "helped").body or b"")


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    public = [name for name in dir(Client) if not name.startswith("_")]
    assert public == [name for name in dir(AsyncClient) if not name.startswith("_")]
    for name in public:
        first, second = getattr(Client, name), getattr(AsyncClient, name)
        assert list(inspect.signature(first).parameters)[1:] == list(inspect.signature(second).parameters)[1:]
        assert first.__doc__
        assert second.__doc__


@pytest.mark.parametrize("name", ["recall", "brief", "remember", "lessons", "save_checkpoint", "settle", "session"])
def test_a_program_can_change_from_a_memory_to_a_client(name: str) -> None:
    """What a client's method takes, the memory's method of the same name takes, too."""
    ours = set(inspect.signature(getattr(Client, name)).parameters)
    theirs = set(inspect.signature(getattr(Memory, name)).parameters)
    assert ours - {"at", "self", "cursor"} <= theirs


def test_an_id_is_one_part_of_the_path_whatever_it_holds() -> None:
    request = operations.get(Place(project="git:github.com/a/b"), "../../members")
    assert request.target.count("/") == 5
    assert unquote(request.target) == "/v1/projects/git:github.com/a/b/lessons/../../members"


def test_an_operation_of_a_project_needs_one() -> None:
    with pytest.raises(InvalidValueError, match="no project"):
        operations.lessons(Place())
    assert operations.me(Place()).target == "/v1/me"
