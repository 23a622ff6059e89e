"""What every request passes: names, limits, headers, the log and the numbers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from holdfast.server.config import ServeSettings
from holdfast.server.gate import NOTES, Gate, _CutError
from holdfast.server.logs import JsonLines, PlainLines
from holdfast.server.metrics import Metrics
from holdfast.server.tracing import Tracing
from holdfast.settings import load_settings

SECRET = "hf_abcdefgh_marmalade"


async def echo(request: Request) -> Response:
    """Say how long the body was, and note ids."""
    request.scope[NOTES].update(route="/v1/echo/{name}", organisation=7, token="abcd1234", name=SECRET)
    return PlainTextResponse(str(len(await request.body())))


async def fail(request: Request) -> Response:
    request.scope[NOTES]["route"] = "/v1/fail"
    raise ValueError(f"the lesson says {SECRET}")


async def break_off(request: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        yield b"begun"
        raise ValueError(SECRET)

    return StreamingResponse(parts())


async def live(request: Request) -> Response:
    return PlainTextResponse("live")


async def page(request: Request) -> Response:
    return Response(headers={"content-security-policy": "default-src 'self'", "cache-control": "max-age=5"})


class Harness:
    """A gate over those answers, and its metrics."""

    def __init__(self, **settings: Any) -> None:
        self.metrics = Metrics()
        routes = [
            Route("/v1/echo/{name}", echo, methods=["GET", "POST"]), Route("/v1/fail", fail),
            Route("/v1/break", break_off), Route("/page", page),
            Route("/v1/live", live),
        ]  # fmt: skip
        chosen = ServeSettings(common=load_settings(), **settings)
        self.gate = Gate(Router(routes=routes), chosen, self.metrics, Tracing())

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The answer to a request for `localhost`."""

        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(self.gate)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost:7433") as client:
                return await client.request(method, path, **more)

        return asyncio.run(run())

    def number(self, name: str, **labels: str) -> float | None:
        """The value of a metric."""
        return self.metrics._registry.get_sample_value(name, labels)


@pytest.fixture
def harness(home: object) -> Harness:
    return Harness(body_bytes=1_000)


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST:7433", "127.0.0.1:1", "[::1]:7433"])
def test_this_machine_s_names_are_taken(harness: Harness, name: str) -> None:
    assert harness.ask("GET", "/v1/echo/x", headers={"host": name}).status_code == 200


@pytest.mark.parametrize("name", ["evil.example.org", "localhost.evil.example.org", "", "[::2]", "127.0.0.2"])
def test_a_foreign_name_is_refused(harness: Harness, name: str) -> None:
    answer = harness.ask("GET", "/v1/echo/x", headers={"host": name})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_probe_by_address_is_answered(harness: Harness) -> None:
    assert harness.ask("GET", "/v1/live", headers={"host": "10.0.0.7"}).text == "live"


def test_names_of_the_settings_are_taken(home: object) -> None:
    harness = Harness(public_url="https://Memory.example.org", allowed_hosts=("other.example.org",))
    for name in ("memory.example.org", "other.example.org:443"):
        assert harness.ask("GET", "/v1/echo/x", headers={"host": name}).status_code == 200


def test_a_body_of_the_limit_is_taken_and_a_longer_one_is_not(harness: Harness) -> None:
    async def chunks(size: int) -> AsyncIterator[bytes]:
        for _ in range(size // 100):
            yield b"x" * 100

    assert harness.ask("POST", "/v1/echo/x", content=b"x" * 1_000).text == "1000"
    assert harness.ask("POST", "/v1/echo/x", content=b"x" * 1_001).status_code == 413
    assert harness.ask("POST", "/v1/echo/x", content=chunks(1_000)).text == "1000"
    over = harness.ask("POST", "/v1/echo/x", content=chunks(1_100))
    assert (over.status_code, over.headers["connection"]) == (413, "close")
    assert over.json()["status"] == 413


def test_every_answer_has_its_number_and_the_headers_of_safety(harness: Harness) -> None:
    first, second = (harness.ask("GET", "/v1/echo/x") for _ in range(2))
    assert first.headers["holdfast-request"] != second.headers["holdfast-request"]
    for answer in (first, harness.ask("GET", "/v1/fail"), harness.ask("GET", "/nothing")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "strict-transport-security" not in answer.headers


def test_a_page_s_own_headers_stay_and_https_is_kept(home: object) -> None:
    answer = Harness(public_url="https://localhost").ask("GET", "/page")
    assert answer.headers["content-security-policy"] == "default-src 'self'"
    assert answer.headers["cache-control"] == "max-age=5"
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_the_log_has_ids_and_templates_and_no_words(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("holdfast.server").propagate = True
    with caplog.at_level(logging.INFO, "holdfast.server"):
        answer = harness.ask("POST", f"/v1/echo/{SECRET}?q={SECRET}", content=SECRET, headers={"x-a": SECRET})
        harness.ask("GET", "/v1/fail", headers={"authorization": f"Bearer {SECRET}"})
        harness.ask("MARMALADE", "/v1/fail")
    lines = [JsonLines().format(record) for record in caplog.records if record.name == "holdfast.server"]
    entries = [json.loads(line) for line in lines]
    assert not [line for line in lines if "marmalade" in line.lower()]
    assert not [text for record in caplog.records if "marmalade" in (text := PlainLines().format(record)).lower()]
    first, failed, refused, unknown = entries
    assert first["request"] == answer.headers["holdfast-request"]
    assert (first["route"], first["organisation"], first["token"]) == ("/v1/echo/{name}", "7", "abcd1234")
    assert failed["error"] == "ValueError"
    assert failed["where"][-1].endswith(" fail")
    assert failed["request"] == refused["request"]
    assert (refused["status"], unknown["method"]) == (500, "OTHER")


def test_what_other_libraries_log_is_reduced_to_its_place() -> None:
    record = logging.LogRecord("mcp.server", logging.WARNING, "/x/y.py", 7, f"bad input: {SECRET}", (), None)
    entry = json.loads(JsonLines().format(record))
    assert entry["event"] == "mcp.server: a message of y:7"
    assert SECRET not in JsonLines().format(record)


def test_a_failure_is_a_problem_that_names_the_log_s_entry(harness: Harness) -> None:
    answer = harness.ask("GET", "/v1/fail")
    assert answer.status_code == 500
    assert answer.headers["holdfast-request"] in answer.json()["detail"]
    assert SECRET not in answer.text


def test_an_answer_that_breaks_off_is_not_ended_as_if_it_were_whole(harness: Harness) -> None:
    with pytest.raises(_CutError):
        harness.ask("GET", "/v1/break")
    assert harness.number("holdfast_requests_total", method="GET", route="unknown", status="500") == 1


def test_requests_are_counted_by_method_route_and_status(harness: Harness) -> None:
    for path in (f"/v1/echo/{SECRET}", "/v1/echo/x", "/v1/fail"):
        harness.ask("GET", path)
    assert harness.number("holdfast_requests_total", method="GET", route="/v1/echo/{name}", status="200") == 2
    assert harness.number("holdfast_requests_total", method="GET", route="/v1/fail", status="500") == 1
    assert harness.number("holdfast_request_seconds_count", method="GET", route="/v1/echo/{name}") == 2
    assert harness.number("holdfast_requests_open") == 0
    assert SECRET not in harness.metrics.render().decode()
