"""The query of a list, and pages of records by their ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from holdfast.domain.team import TeamRecord
from holdfast.surfaces.rest import views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.reading import Digits
from holdfast.surfaces.rest.table import OpAnswer, Strict

R = TypeVar("R", bound=TeamRecord)

Cursor = Annotated[str, Field(max_length=2_000, description="The `next` of the page before; empty: from the beginning")]


class Paged(Strict):
    """A list that comes in pages."""

    cursor: Cursor = ""
    limit: Annotated[Digits, Field(ge=1, le=1_000)] = 100


def records_page(
    call: OpCall, read: Callable[[str, int], Sequence[R]], view: Callable[[R], dict[str, Any]]
) -> OpAnswer:
    """Return the page of a list in the order of ids; `read` takes the id after which it begins, and how many."""
    query = call.asks(Paged)
    after = str(next(iter(call.position(query.cursor)), ""))
    records = read(after, query.limit + 1)
    return OpAnswer(value=views.page(records, query.limit, view, lambda record: call.cursor(record.id)))
