"""Traces go to a collector that the environment names, and hold no words."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from holdfast.errors import HoldfastError
from holdfast.server import tracing
from holdfast.server.tracing import open_tracing
from tests.server.serving import WAIT_S, served


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A collector on this machine: its address, and what it was sent."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", received
    finally:
        server.shutdown()
        thread.join(WAIT_S)
        server.server_close()


@pytest.mark.usefixtures("home")
def test_a_request_is_a_span_with_its_route_and_status() -> None:
    with collector() as (address, received):
        with served(OTEL_EXPORTER_OTLP_ENDPOINT=address, OTEL_EXPORTER_OTLP_COMPRESSION="none") as server:
            server.get("/v1/projects/marmalade?q=marmalade", authorization="Bearer marmalade")
            server.get("/v1/live")
        spans = [
            span
            for body in received
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
            if scope.scope.name == "holdfast"
        ]
    facts = {span.name: {pair.key: pair.value for pair in span.attributes} for span in spans}
    assert set(facts) == {"GET /v1/projects/{project}", "GET /v1/live"}
    assert facts["GET /v1/projects/{project}"]["http.response.status_code"].int_value == 401
    assert b"marmalade" not in b"".join(received)


def test_without_a_collector_nothing_is_traced() -> None:
    quiet = open_tracing({})
    with quiet.span("GET") as span:
        span.end_with("/v1/live", 200, {})
    quiet.close()


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(HoldfastError, match="not installed") as refused:
        open_tracing({tracing.ENDPOINTS[0]: "http://127.0.0.1:9"})
    assert refused.value.hint == "pip install 'holdfast-memory[otel]'"
