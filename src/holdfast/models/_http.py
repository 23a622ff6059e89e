"""What models behind an HTTP endpoint share: one POST of JSON, answered by a JSON object of bounded size.

A request that fails is not repeated here: the caller keeps a queue and tries the session again later.
httpx is imported at the first call, never before.
"""

from __future__ import annotations

from holdfast.errors import InvalidValueError, ModelError
from holdfast.text.httpfailure import failure_words
from holdfast.text.weburl import host_in, is_loopback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ANSWER_LIMIT = 1_000_000
"""Bytes; a longer answer is refused."""

MAX_OUTPUT_TOKENS = 4_000


def post(url: str, question: Mapping[str, Any], headers: Mapping[str, str], timeout_s: float) -> dict[str, Any]:
    """The JSON object the endpoint answers with. Raises ModelError, whose message never holds a key or the question."""
    import time
    from json import loads

    import httpx

    host, deadline = host_of(url), time.monotonic() + timeout_s
    try:
        with (
            httpx.Client(timeout=timeout_s, headers=dict(headers), trust_env=not is_loopback(host)) as client,
            client.stream("POST", url, json=question) as response,
        ):
            body = b""
            for block in response.iter_bytes():
                body += block
                if len(body) > ANSWER_LIMIT:
                    raise ModelError(f"{host} answered more than {ANSWER_LIMIT:,} bytes")
                if time.monotonic() > deadline:
                    raise ModelError(f"{host} did not answer within {timeout_s:.0f} s")
    except httpx.TimeoutException:
        raise ModelError(f"{host} did not answer within {timeout_s:.0f} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as exc:
        # The exception's own text may hold a login from the URL or a proxy variable.
        raise ModelError(f"{host} cannot be asked: {failure_words(exc)}", hint="holdfast distil status") from None
    if response.status_code in (401, 403):
        raise ModelError(f"{host} refused the key", hint="check the variable that `api_key_env` names")
    if response.status_code != 200:
        raise ModelError(f"{host} answered status {response.status_code}", hint="check `url` and `model`")
    try:
        answer = loads(body)
    except (ValueError, RecursionError):
        raise ModelError(f"{host} answered something that is not JSON", hint="check `url`") from None
    if not isinstance(answer, dict):
        raise ModelError(f"{host} answered no JSON object", hint="check `url`")
    return answer


def host_of(url: str) -> str:
    """Host and port of an http(s) URL, without a login. Raises InvalidValueError for anything else."""
    host = host_in(url)
    if not host:
        raise InvalidValueError("a model's url must be http://... or https://...", hint="set `url` under [distil]")
    return host


def bearer(options: Mapping[str, str]) -> dict[str, str]:
    """The header that carries the key, if there is one. Raises ModelError for a key no header can hold."""
    key = checked_key(options.get("api_key", ""))
    return {"Authorization": f"Bearer {key}"} if key else {}


def checked_key(key: str) -> str:
    """The key without blanks around it. Raises ModelError, without the key, when no header can hold it."""
    key = key.strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise ModelError("the key holds characters that no key has", hint="check the variable `api_key_env` names")
    return key


def required(options: Mapping[str, str], name: str) -> str:
    """An option that has no default. Raises InvalidValueError when it is missing."""
    if not options.get(name):
        raise InvalidValueError(f"the model needs `{name}`", hint=f"holdfast distil use ... {name}=VALUE")
    return options[name]


def count(value: object) -> int:
    """A number of tokens from an answer; 0 for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
