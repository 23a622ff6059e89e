"""The embedders behind an endpoint, against a real server that also fails."""

from __future__ import annotations

import subprocess
import sys
from math import isclose, sqrt
from typing import Any

import pytest

from holdfast.embedders import ollama, openai_compatible
from holdfast.embedders._remote import EmbeddingEndpoint, host_of
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.outside.endpoint import backoff_s

from .endpoint import DIMENSION, EmbeddingServer, vector_of

SECRET = "kept" + "-to-ourselves"


class Sleeper:
    """Counts the waits instead of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture(params=["openai_compatible", "ollama"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def options(server: EmbeddingServer, kind: str, **over: str) -> dict[str, str]:
    url = server.url + ("/v1" if kind == "openai_compatible" else "")
    return {"url": url, "model": "m", "dimension": str(DIMENSION), "api_key": SECRET, **over}


def build(server: EmbeddingServer, kind: str, **over: str) -> Any:
    module = openai_compatible if kind == "openai_compatible" else ollama
    embedder: Any = module.make(options(server, kind, **over))
    embedder._endpoint._sleep = Sleeper()
    embedder._endpoint._chance = lambda: 0.0
    return embedder


def waits(embedder: Any) -> list[float]:
    return list(embedder._endpoint._sleep.waits)


def unit(text: str) -> list[float]:
    row = vector_of(text)
    length = sqrt(sum(number * number for number in row))
    return [number / length for number in row]


def test_texts_become_unit_vectors_in_order(server: EmbeddingServer, kind: str) -> None:
    texts = ["one", "three eels", "seventeen", "", "five"]
    vectors = build(server, kind, batch="2").embed_documents(texts)
    for vector, text in zip(vectors, texts, strict=True):
        assert all(isclose(a, b) for a, b in zip(vector, unit(text or " "), strict=True))
    assert [len(request["input"]) for request in server.asked] == [2, 2, 1]


def test_no_texts_ask_nothing(server: EmbeddingServer, kind: str) -> None:
    assert build(server, kind).embed_documents([]) == []
    assert server.asked == []


def test_the_key_travels_in_the_header_only(server: EmbeddingServer, kind: str) -> None:
    embedder = build(server, kind)
    embedder.embed_query("one")
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in embedder.id
    assert "Authorization" not in [*build_without_key(server, kind).headers[-1]]


def build_without_key(server: EmbeddingServer, kind: str) -> EmbeddingServer:
    build(server, kind, api_key="").embed_query("one")
    return server


def test_the_id_names_model_host_and_dimension(server: EmbeddingServer, kind: str) -> None:
    assert build(server, kind).id == f"m@127.0.0.1:{server.server_port}#{DIMENSION}"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again_after_growing_waits(server: EmbeddingServer, kind: str, status: int) -> None:
    server.faults = [status, status]
    embedder = build(server, kind)
    assert len(embedder.embed_documents(["one", "two"])) == 2
    assert waits(embedder) == [0.5, 1.0]


def test_a_single_document_is_tried_again_too(server: EmbeddingServer, kind: str) -> None:
    server.faults = [503]
    assert len(build(server, kind, query_timeout_s="0.01").embed_documents(["one"])) == 1
    assert len(server.asked) == 2


def test_a_failure_that_stays_is_an_error(server: EmbeddingServer, kind: str) -> None:
    server.faults = [503] * 9
    embedder = build(server, kind)
    with pytest.raises(EmbedderError, match="did not answer: status 503"):
        embedder.embed_documents(["one", "two"])
    assert (len(server.asked), waits(embedder)) == (4, [0.5, 1.0, 2.0])


def test_a_question_is_tried_once_only(server: EmbeddingServer, kind: str) -> None:
    server.faults = [503]
    with pytest.raises(EmbedderError):
        build(server, kind).embed_query("one")
    assert len(server.asked) == 1


def test_a_question_does_not_wait_for_a_slow_endpoint(server: EmbeddingServer, kind: str) -> None:
    server.faults = [0.5]
    with pytest.raises(EmbedderError, match="did not answer: not in time"):
        build(server, kind, query_timeout_s="0.05").embed_query("one")


def test_an_endpoint_that_is_not_there_is_an_error(kind: str, server: EmbeddingServer) -> None:
    embedder = build(server, kind, url="http://127.0.0.1:9")
    with pytest.raises(EmbedderError, match=r"127\.0\.0\.1:9 did not answer: the connection was refused"):
        embedder.embed_documents(["one", "two"])


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (lambda rows: rows[:1], "vectors|1 vectors"),
        (lambda rows: [row[:-1] for row in rows], "3 numbers, not 4"),
        (lambda rows: [[float("nan")] * DIMENSION for _ in rows], "not all numbers"),
        (lambda rows: [[float("inf")] * DIMENSION for _ in rows], "not all numbers"),
        (lambda rows: [["1"] * DIMENSION for _ in rows], "not all numbers"),
        (lambda rows: [[0.0] * DIMENSION for _ in rows], "without a direction"),
        (lambda rows: [None for _ in rows], "no numbers"),
        (lambda rows: [[10**400] * DIMENSION for _ in rows], "not all numbers|not JSON"),
        (lambda rows: [[True] * DIMENSION for _ in rows], "not all numbers"),
        (b"[" * 100_000, "not JSON"),
        (b"<html>gateway</html>", "not JSON"),
        (b"[1, 2]", "no JSON object"),
        (b"{}", "no vectors"),
        (b'{"data": [1, 2], "embeddings": "x"}', "no vectors"),
        (400, "status 400"),
        (404, "status 404"),
        (401, "refused the key"),
        (403, "refused the key"),
        (302, "status 302"),
    ],
)
def test_nonsense_is_an_error_that_holds_no_key_and_no_text(
    server: EmbeddingServer, kind: str, fault: Any, reason: str
) -> None:
    server.faults = [fault]
    with pytest.raises(EmbedderError, match=reason) as caught:
        build(server, kind).embed_documents(["private words", "more"])
    message = str(caught.value) + caught.value.hint
    assert SECRET not in message
    assert "private words" not in message
    assert len(server.asked) == 1


def test_vectors_given_twice_for_one_text_are_an_error(server: EmbeddingServer) -> None:
    server.faults = [b'{"data": [{"index": 0, "embedding": [1,2,3,4]}, {"index": 0, "embedding": [1,2,3,4]}]}']
    with pytest.raises(EmbedderError, match="no vectors"):
        build(server, "openai_compatible").embed_documents(["one", "two"])


def test_a_long_text_is_cut(server: EmbeddingServer, kind: str) -> None:
    build(server, kind, longest="10").embed_documents(["x" * 50])
    assert server.asked[0]["input"] == ["x" * 10]


def test_the_dimension_can_be_measured_and_requested(server: EmbeddingServer, kind: str) -> None:
    assert build(server, kind, dimension="1").measure() == DIMENSION
    build(server, "openai_compatible", ask_dimension="true").embed_query("one")
    assert server.asked[-1]["dimensions"] == DIMENSION


@pytest.mark.parametrize("missing", ["model", "dimension"])
def test_an_option_that_is_missing_is_named(server: EmbeddingServer, kind: str, missing: str) -> None:
    with pytest.raises(InvalidValueError, match=missing):
        build(server, kind, **{missing: ""})


@pytest.mark.parametrize("url", ["ftp://x", "localhost:11434", "http://", "file:///etc/passwd"])
def test_a_url_that_is_none_is_refused(server: EmbeddingServer, kind: str, url: str) -> None:
    with pytest.raises(InvalidValueError, match="url"):
        build(server, kind, url=url)


@pytest.mark.parametrize("value", ["0", "-1", "many", "nan", "inf"])
def test_a_number_that_cannot_be_is_refused(server: EmbeddingServer, kind: str, value: str) -> None:
    with pytest.raises(InvalidValueError, match="batch"):
        build(server, kind, batch=value)


def test_a_login_in_the_url_is_no_part_of_the_id() -> None:
    assert host_of("https://ann:word@api.example.org:8443/v1") == "api.example.org:8443"


def test_waits_grow_unless_the_server_says_how_long() -> None:
    assert [backoff_s(1), backoff_s(3), backoff_s(20)] == [0.5, 2.0, 30.0]
    assert [backoff_s(1, "3"), backoff_s(3, "soon"), backoff_s(1, "Sat, 01 Jan 2000 00:00:00 GMT")] == [3.0, 2.0, 0.0]


def test_an_hour_that_the_server_asks_for_is_not_waited_for_nor_ignored(server: EmbeddingServer, kind: str) -> None:
    server.faults = [(429, {"Retry-After": "2"}), (429, {"Retry-After": "3600"})]
    embedder = build(server, kind)
    with pytest.raises(EmbedderError, match="status 429; it asks clients to wait 3600 s"):
        embedder.embed_documents(["one", "two"])
    assert (len(server.asked), waits(embedder)) == (2, [2.0])


def test_an_answer_that_drips_in_is_not_waited_for(server: EmbeddingServer, kind: str) -> None:
    server.faults = ["0.05"]
    with pytest.raises(EmbedderError, match="did not answer: not in time"):
        build(server, kind, query_timeout_s="0.2").embed_query("one")


def test_an_answer_without_end_is_not_read(server: EmbeddingServer, kind: str) -> None:
    server.faults = [b" " * 1_600_000]
    with pytest.raises(EmbedderError, match="more than 1,500,000 bytes"):
        build(server, kind).embed_query("one")


@pytest.mark.parametrize("key", ["two\nlines", "schl\u00fcssel"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_reported(
    server: EmbeddingServer, kind: str, key: str
) -> None:
    with pytest.raises(EmbedderError, match="characters that no key has") as caught:
        build(server, kind, api_key=key)
    assert key not in repr(caught.value) + caught.value.hint


def test_spaces_around_a_key_are_left_out(server: EmbeddingServer, kind: str) -> None:
    build(server, kind, api_key=f" {SECRET}\n").embed_query("one")
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_a_login_in_the_url_is_used_but_never_reported(server: EmbeddingServer, kind: str) -> None:
    server.faults = [404]
    word = "kept" + "-quiet"
    embedder = build(server, kind, url=options(server, kind)["url"].replace("://", f"://ann:{word}@"), api_key="")
    with pytest.raises(EmbedderError) as caught:
        embedder.embed_query("one")
    assert server.headers[0]["Authorization"].startswith("Basic ")
    assert word not in str(caught.value) + caught.value.hint + embedder.id


def test_a_proxy_is_used_for_what_is_elsewhere_and_never_for_this_machine(
    server: EmbeddingServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    away = build(server, kind, url="http://embeddings.invalid" + ("/v1" if kind == "openai_compatible" else ""))
    with pytest.raises(EmbedderError):  # the server is no proxy: it does not know the path
        away.embed_query("one")
    assert server.headers[0]["Host"] == "embeddings.invalid"
    monkeypatch.setenv("HTTP_PROXY", "http://ann:word@127.0.0.1:9")
    assert len(build(server, kind).embed_query("one")) == 4


def test_a_proxy_that_cannot_be_is_an_error_without_its_login(
    server: EmbeddingServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://ann:word@127.0.0.1:9")
    with pytest.raises(EmbedderError, match=r"embeddings\.invalid cannot be asked") as caught:
        build(server, kind, url="http://embeddings.invalid").embed_query("one")
    assert "word" not in str(caught.value) + caught.value.hint


def test_making_an_embedder_sends_nothing_and_imports_no_client() -> None:
    script = (
        "import sys; from holdfast import plugins;"
        "plugins.load('embedders', 'ollama', {'model': 'm', 'dimension': '3'});"
        "print('httpx2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_an_endpoint_tries_as_often_as_it_is_shown(server: EmbeddingServer) -> None:
    server.faults = [500, 500]
    sleeper = Sleeper()
    with pytest.raises(EmbedderError):
        EmbeddingEndpoint(server.url, sleep=sleeper, chance=lambda: 1.0).post({"input": ["a"]}, tries=2)
    assert sleeper.waits == [0.25]


def test_a_redirect_is_not_followed_since_it_would_carry_the_key_elsewhere(server: EmbeddingServer, kind: str) -> None:
    server.faults = [(307, {"Location": server.url})]
    with pytest.raises(EmbedderError, match="answered status 307"):
        build(server, kind).embed_query("one")
    assert len(server.asked) == 1
