"""Models behind endpoints: a real HTTP server on loopback stands in for the provider."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from holdfast import plugins
from holdfast.errors import InvalidValueError, ModelError
from holdfast.models import ollama

PATIENT_S = 120.0
KEY = "not-a" + "-real-key"


class Provider(ThreadingHTTPServer):
    """Answers every POST with `answer` and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.answer = 200, b"{}"
        self.asked: list[tuple[str, dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


ANSWERS: dict[str, Any] = {
    "anthropic": {"content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 5, "output_tokens": 1}},
    "openai-compatible": {
        "choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    },
    "ollama": {"message": {"content": "yes"}, "prompt_eval_count": 5, "eval_count": 1},
}  # fmt: skip
PATHS = {"anthropic": "/v1/messages", "openai-compatible": "/v1/chat/completions", "ollama": "/api/chat"}


def model(name: str, provider: Provider) -> Any:
    url = provider.url + {"anthropic": "/v1/messages", "openai-compatible": "/v1", "ollama": ""}[name]
    return plugins.load("models", name, {"url": url, "model": "m", "api_key": KEY})


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_the_answer_and_its_tokens_are_read(name: str, provider: Provider) -> None:
    provider.answer = json.dumps(ANSWERS[name]).encode()
    completion = model(name, provider).complete("what?", PATIENT_S)
    assert (completion.text, completion.input_tokens, completion.output_tokens) == ("yes", 5, 1)
    path, _, request = provider.asked[0]
    assert (path, request["model"], request["messages"][0]["content"]) == (PATHS[name], "m", "what?")


@pytest.mark.parametrize("name", sorted(ANSWERS))
@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, b"no json"),
        (200, b"[]"),
        (200, b"{}"),
        (500, b"{}"),
        (401, b"{}"),
        (200, b" " * 1_500_000),
        (200, b"[" * 99_999),
    ],
)
def test_an_answer_that_cannot_be_used_is_a_clear_error_without_the_key(
    name: str, status: int, answer: bytes, provider: Provider
) -> None:
    provider.status, provider.answer = status, answer
    with pytest.raises(ModelError) as raised:
        model(name, provider).complete("a private question", PATIENT_S)
    assert KEY not in str(raised.value)
    assert "private question" not in str(raised.value)


def test_ollama_is_requested_a_context_that_holds_a_digest(provider: Provider) -> None:
    provider.answer = json.dumps(ANSWERS["ollama"]).encode()
    model("ollama", provider).complete("what?", PATIENT_S)
    _, _, request = provider.asked[0]
    assert request["options"]["num_ctx"] == ollama.CONTEXT_TOKENS == 16_384


def test_an_endpoint_that_is_not_there_is_a_clear_error() -> None:
    missing = plugins.load("models", "ollama", {"url": "http://127.0.0.1:9", "model": "m"})
    with pytest.raises(ModelError, match="cannot be asked"):
        missing.complete("?", PATIENT_S)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("anthropic", {}),
        ("openai-compatible", {"model": "m"}),
        ("ollama", {}),
        ("ollama", {"model": "m", "url": "ftp://x"}),
    ],
)
def test_an_option_that_is_missing_or_wrong_is_named(name: str, options: dict[str, str]) -> None:
    with pytest.raises(InvalidValueError):
        plugins.load("models", name, options)
