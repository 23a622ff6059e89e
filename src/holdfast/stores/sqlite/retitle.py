"""Makes the weak titles of stored lessons anew: a step of the schema's history, which needs the words of each lesson.

Only current versions change, in place: their words, times and history stay. A version that cannot be read stays as it
is.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from holdfast.domain.lesson import Lesson
from holdfast.stores.sqlite.derived import reindex
from holdfast.stores.sqlite.rows import DAMAGED, document, record_of
from holdfast.text.titles import is_weak, kept_title


def retitle(sql: sqlite3.Connection) -> None:
    """Give each current lesson with a weak title one that states its verdict; calling it again changes nothing."""
    living = "SELECT row, owner FROM lessons WHERE retracted_at IS NULL AND state <> 'forgotten'"
    for row, owner in sql.execute(living).fetchall():
        (doc,) = sql.execute("SELECT doc FROM lessons WHERE row = ?", (row,)).fetchone()
        try:
            lesson = record_of(Lesson, doc)
        except DAMAGED:
            continue
        if not is_weak(lesson.title):
            continue
        quote = next((span.quote for span in lesson.provenance.evidence), "")
        title = kept_title(lesson.title, lesson.insight, quote)
        if title and title != lesson.title:
            named, text = document(replace(lesson, title=title))
            sql.execute("UPDATE lessons SET doc = ? WHERE row = ?", (text, row))
            reindex(sql, row, named, owner)
