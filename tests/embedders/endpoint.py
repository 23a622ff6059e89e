"""A real HTTP server on loopback that speaks both embedding protocols, and misbehaves when told to."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

DIMENSION = 4


class EmbeddingServer(ThreadingHTTPServer):
    """Answers vectors made of the texts' characters. `faults` are used up one a request, before it behaves.

    Several texts at once take it `pause_s`.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.faults: list[Any] = []
        self.pause_s = 0.0
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(text.count("e")), 1.0, -2.0]


class _Answer(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(request)
        self.server.headers.append(dict(self.headers))
        fault = self.server.faults.pop(0) if self.server.faults else None
        if isinstance(fault, float):
            time.sleep(fault)
        if isinstance(fault, str):
            return self.drip(float(fault))
        if isinstance(fault, tuple):
            return self.answer(fault[0], b"{}", fault[1])
        if isinstance(fault, int):
            return self.answer(fault, b"{}")
        if isinstance(fault, bytes):
            return self.answer(200, fault)
        if len(request["input"]) > 1:
            time.sleep(self.server.pause_s)
        rows = [vector_of(text) for text in request["input"]]
        if callable(fault):
            rows = fault(rows)
        self.answer(200, json.dumps(self.shape(rows)).encode())

    def shape(self, rows: list[Any]) -> dict[str, Any]:
        if self.path == "/api/embed":
            return {"model": "m", "embeddings": rows}
        if self.path == "/v1/embeddings":
            items = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
            return {"object": "list", "data": items[::-1]}
        return {"error": f"no {self.path}"}

    def drip(self, pause_s: float) -> None:
        """A packet now and then, and never the last."""
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b" ")
                time.sleep(pause_s)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] = MappingProxyType({})) -> None:
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client did not wait: that is what some tests are about

    def log_message(self, format: str, *args: object) -> None:
        pass
