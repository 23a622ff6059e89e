"""What is asked again of an endpoint, and after how long."""

from __future__ import annotations

import pytest

from holdfast.errors import EmbedderError, HoldfastError
from holdfast.outside.endpoint import Endpoint, NoAnswerError, backoff_s
from tests.embedders.conftest import server
from tests.embedders.endpoint import EmbeddingServer

__all__ = ["server"]


class Plain(Endpoint):
    """An endpoint that says how its last try failed."""

    error = EmbedderError

    def no_answer(self, failure: NoAnswerError, limit_s: float) -> HoldfastError:
        return EmbedderError(str(failure))


AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)


@pytest.mark.parametrize("status", sorted({*AGAIN, 400, 404, 407, 410, 422, 424, 431, 451, 501, 505, 507, 511}))
def test_only_what_may_pass_is_queried_again(server: EmbeddingServer, status: int) -> None:
    """`endpoint.RETRIED`."""
    server.faults += [status, status]
    waits: list[float] = []
    endpoint = Plain(server.url, "127.0.0.1", {}, waits.append, lambda: 0.0)
    with pytest.raises(EmbedderError, match=str(status)):
        endpoint.ask({"input": ["a"]}, 60, 1_000, 2)
    assert len(server.asked) == (2 if status in AGAIN else 1)
    assert waits == ([0.5] if status in AGAIN else [])


def test_the_wait_doubles_from_half_a_second_to_half_a_minute() -> None:
    """`endpoint.FIRST_WAIT_S` and `endpoint.LONGEST_WAIT_S`."""
    assert [backoff_s(attempt) for attempt in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
