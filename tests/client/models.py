"""A local stand-in for the servers of two models: it answers a script and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

COMMAND = "python -c \"raise KeyError('rate')\""
DONE = "The rate was missing."


class Models(ThreadingHTTPServer):
    """First asks for the command, then answers with a sentence."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Models

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        is_first = len(self.server.requests) == 1
        answer = _message(is_first) if self.path.startswith("/v1/messages") else _completion(is_first)
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


def _message(is_first: bool) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "call_1", "name": "run", "input": {"command": COMMAND}}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "example-model",
        "content": [call] if is_first else [{"type": "text", "text": DONE}],
        "stop_reason": "tool_use" if is_first else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def _completion(is_first: bool) -> dict[str, Any]:
    function = {"name": "run", "arguments": json.dumps({"command": COMMAND})}
    message: dict[str, Any] = {"role": "assistant", "content": None if is_first else DONE}
    if is_first:
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "example-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if is_first else "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip


@contextmanager
def serving() -> Iterator[Models]:
    with Models() as models:
        thread = Thread(target=models.serve_forever)
        thread.start()
        yield models
        models.shutdown()
        thread.join()
