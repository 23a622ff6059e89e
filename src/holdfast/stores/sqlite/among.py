"""How many lessons a question was put to: what the best of them is worth depends on it (see `ranking.bar`)."""

from __future__ import annotations

from holdfast.lean.records import replace
from holdfast.ranking.bar import MANY
from holdfast.stores.sqlite.rows import clean, slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from holdfast.domain.query import Hit, Query


def tell(sql: sqlite3.Connection, query: Query, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each with how many current lessons of the query's scope and states there are, counted to MANY."""
    if not hits:
        return []
    where, args = f"retracted_at IS NULL AND state IN ({slots(len(query.states))})", [*map(str, query.states)]
    if not query.all_projects:
        where, args = f"owner IN ('', ?) AND {where}", [clean(query.project), *args]
    counting = f"SELECT count(*) FROM (SELECT 1 FROM lessons WHERE {where} LIMIT ?)"
    count: int = sql.execute(counting, (*args, MANY)).fetchone()[0]
    return [replace(hit, among=count) for hit in hits]
