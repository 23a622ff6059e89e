"""Made-up requests for every operation, by its own schema: valid ones and broken ones.

schemathesis checks that no answer is a fault of the server, that each status and media type is a documented one, that
answers fit their schemas, and that broken requests are refused. `make nightly` tries many more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode

from holdfast.surfaces.rest.openapi import make_openapi
from holdfast.surfaces.rest.operations import OPERATIONS
from holdfast.surfaces.rest.table import NoQuery, Op

from .requests import REQUESTS
from .world import World, open_world

FEW, MANY = 6, 300
"""Made-up requests of each kind for an operation, by day and in `make nightly`."""
UNTIMED: dict[str, Any] = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
OF_ALL = ("change_organisation", "change_member", "change_project", "remove_project", "revoke_token")
"""Operations after which others may not work: each has a world of its own."""
CONFIG = {
    "checks": {
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "401", "402", "403", "404", "409", "410", "412", "422", "428"]
        },
        "negative_data_rejection": {
            "expected-statuses": ["400", "401", "403", "404", "409", "410", "412", "413", "415", "422", "428"]
        },
    }
}
"""A request that fits its schema may still be refused: for rights, states, versions or cursors."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with open_world(tmp_path_factory.mktemp("world")) as world:
        yield world


@schemathesis.serializer("application/x-ndjson")
def serialize_lines(context: Any, value: Any) -> bytes:
    lines = value if isinstance(value, list) else [value]
    return "".join(json.dumps(line) + "\n" for line in lines).encode("utf-8", "replace")


def described(world: World, op: Op, parameters: dict[str, str]) -> Any:
    """Return one operation as schemathesis reads it, with what exists for its parameters, and the application.

    The token is added afterwards, so the document does not ask for one. A body of lines is a list here.
    """
    document = make_openapi([op])
    del document["security"], document["components"]["securitySchemes"]
    ((operation,),) = [path.values() for path in document["paths"].values()]
    operation.pop("security", None)
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            parameter["schema"] = {"enum": [parameters[parameter["name"]]]}
    lines = operation.get("requestBody", {}).get("content", {}).get("application/x-ndjson")
    if lines:
        lines["schema"] = {"type": "array", "items": lines["schema"]["x-line"]}
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config.from_dict(CONFIG))
    schema.app = world.client.app
    return schema.find_operation_by_id(op.name)


CASES = [
    (op, mode) for op in OPERATIONS for mode in GenerationMode if mode.is_positive or op.query is not NoQuery or op.body
]
"""A request without query and body cannot be broken in a way that the schema knows."""


@pytest.mark.parametrize(("op", "mode"), CASES, ids=lambda each: each.name if isinstance(each, Op) else each.value)
def test_every_made_up_request_gets_a_documented_answer(
    shared: World, op: Op, mode: GenerationMode, request: pytest.FixtureRequest
) -> None:
    world = request.getfixturevalue("world" if op.name in OF_ALL else "shared")
    operation = described(world, op, REQUESTS[op.name](world).parameters)
    token = world.home.tokens["admin"]

    @settings(max_examples=MANY if request.config.getoption("--nightly") else FEW, **UNTIMED)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Case) -> None:
        response = case.call(headers={"Authorization": f"Bearer {token}"})
        case.validate_response(response)

    check()
