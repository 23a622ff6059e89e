"""Who may call what: every operation, as every kind of caller.

What is expected is in `matrix.tsv`, written by hand, a row an operation; it is never made from the table. An operation
without a row fails here, and so does a row without an operation.

- none, malformed, expired, revoked: no token, or one that is worth nothing
- reader, writer, reviewer, admin: a member's own token
- stranger: an admin of another organisation
- elsewhere: an admin's token for another project
- verbless: an admin's token with every verb but the operation's
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.domain.team import ROLES, VERB_ROLES
from holdfast.surfaces.rest.operations import OPERATIONS
from holdfast.surfaces.rest.table import Op, path_of
from holdfast.team import access, tokens

from .requests import REQUESTS, Request
from .world import SECRET, World, found, open_world

MATRIX = [line.split("\t") for line in (Path(__file__).parent / "matrix.tsv").read_text("utf-8").splitlines()]
COLUMNS = MATRIX[0][1:]
EXPECTED = {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in MATRIX[1:]}
BACKENDS = ["sqlite", "postgresql"]


@pytest.fixture(scope="module", params=BACKENDS)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    url = request.getfixturevalue("database").store_url() if request.param == "postgresql" else ""
    with open_world(tmp_path_factory.mktemp("world"), url) as world:
        if url:
            world.stranger = found(world.backend, world.requests, "Bolt", is_first=False, ids=("bolts", "nuts"))
        yield world


def test_every_operation_has_a_row_and_a_request() -> None:
    names = [op.name for op in OPERATIONS]
    assert len(names) == len(set(names))
    assert set(EXPECTED) == set(names)
    assert set(REQUESTS) == set(names)


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_each_caller_gets_what_the_matrix_says(shared: World, op: Op) -> None:
    columns = [column for column in COLUMNS if column != "stranger" or shared.stranger]  # a file has one organisation
    answers = {column: send(shared, op, REQUESTS[op.name](shared), token_of(shared, op, column)) for column in columns}
    assert answers == {column: EXPECTED[op.name][column] for column in columns}


def send(world: World, op: Op, request: Request, token: str | None) -> str:
    """Return the status of the answer, as text."""
    headers = dict(request.headers) if op.match else {}
    if request.lines is not None:
        headers["Content-Type"] = "application/x-ndjson"
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    path = path_of(op, **request.parameters).removeprefix("/v1")
    response = world.call(
        op.method, path + request.query, role="", headers=headers, json=request.json, content=request.content
    )
    assert response.status_code in op.statuses, response.text
    if response.status_code == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer ")
    return str(response.status_code)


def token_of(world: World, op: Op, column: str) -> str | None:
    """Return the token that such a caller sends."""
    home = world.home
    if column in ROLES:
        return home.tokens[column]
    if column == "stranger":
        assert world.stranger
        return world.stranger.tokens["admin"]
    if column == "elsewhere":
        return home.issue("admin", only=(SECRET,))
    if column == "verbless":
        return home.issue("admin", verbs=tuple(verb for verb in VERB_ROLES if verb != op.verb))
    return {"none": lambda: None, "malformed": lambda: "hf_no-token", "expired": lambda: expired(world),
            "revoked": lambda: revoked(world)}[column]()  # fmt: skip


def expired(world: World) -> str:
    """Return an admin's token that held until 2020."""
    home = world.home
    with home.team.stores.changing():
        _, text = tokens.make_token(
            home.team, home.admin.actor, kind="personal", name="old", role="admin", member=home.members["admin"],
            projects=(), verbs=(), expires_at=datetime(2020, 1, 1, tzinfo=UTC),
        )  # fmt: skip
    return text


def revoked(world: World) -> str:
    """Return an admin's token that was revoked."""
    text = world.home.issue("admin")
    caller = access.authenticate(world.backend, world.home.team.clock, text)
    tokens.revoke(world.home.team, world.home.admin, caller.token)
    return text
