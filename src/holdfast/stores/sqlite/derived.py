"""What is kept of a current version besides its document, to be found by: anchors, exact tokens, triggers, full
text.

All of it can be made again from the documents. A version that is no longer current has none of it.
"""

from __future__ import annotations

from holdfast.domain.lesson import Lesson
from holdfast.stores.sqlite import triggers
from holdfast.text import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

SEARCHABLE = ("candidate", "probation", "active", "superseded", "retired", "quarantined")
"""States whose lessons are in the indexes: all but the tombstone's."""
TOKEN_LIMIT = 96
"""Exact tokens kept of one lesson."""
TEXT_LIMIT = 8_000
"""Characters looked at for identifiers: half from the start, half from the end."""

SIGNATURE, COMMAND, TOPIC, SYMBOL, PATH, FILE, MENTION, PART = 1.0, 1.0, 1.0, 0.9, 0.8, 0.6, 0.5, 0.4
"""How much an exact hit says, by what was hit."""
SESSION_PREFIX = "session "
"""Before the session a lesson was learnt in, among its tokens: what else was learnt there is near it. Says nothing as
an exact hit."""

_EDGES = ".,;:!?'\"`()[]{}<>=*|&"


def index(sql: sqlite3.Connection, row: int, lesson: Lesson, owner: str, with_triggers: bool = True) -> None:
    """Write a current version's derived rows; `with_triggers`: the schema has a table for them."""
    if lesson.state not in SEARCHABLE:
        return
    if with_triggers:
        sql.executemany("INSERT OR IGNORE INTO triggers VALUES (?, ?, ?, ?, ?)", triggers.rows_of(row, lesson, owner))
    sql.executemany("INSERT OR IGNORE INTO anchors VALUES (?, ?, ?, ?, ?)", _anchor_rows(row, lesson, owner))
    sql.executemany(
        "INSERT INTO tokens VALUES (?, ?, ?, ?)",
        [(token, owner, row, weight) for token, weight in lesson_tokens(lesson).items()],
    )
    sql.execute(
        "INSERT INTO lesson_text (rowid, title, insight, reason, expanded, error, scope) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (row, *text_columns(lesson), scope_token(owner)),
    )


def drop(sql: sqlite3.Connection, row: int) -> None:
    """Remove a version's derived rows; its vectors too."""
    _drop_found_by(sql, row)
    sql.execute("DELETE FROM vectors WHERE lesson = ?", (row,))


def rebuild(sql: sqlite3.Connection) -> None:
    """Make the derived rows of every current version again from its document; vectors stay.

    A document that cannot be read keeps the rows it has.
    """
    from holdfast.stores.sqlite.rows import DAMAGED, record_of

    table = "SELECT 1 FROM sqlite_master WHERE name = 'triggers'"
    with_triggers = bool(sql.execute(table).fetchone())  # an older schema's step makes rows again, too
    rows = sql.execute("SELECT row, owner FROM lessons WHERE retracted_at IS NULL").fetchall()
    for row, owner in rows:
        (doc,) = sql.execute("SELECT doc FROM lessons WHERE row = ?", (row,)).fetchone()
        try:
            lesson = record_of(Lesson, doc)
        except DAMAGED:
            continue
        _drop_found_by(sql, row, with_triggers)
        index(sql, row, lesson, owner, with_triggers)


def _drop_found_by(sql: sqlite3.Connection, row: int, with_triggers: bool = True) -> None:
    for table in ("anchors", "tokens", *(("triggers",) if with_triggers else ())):
        sql.execute(f"DELETE FROM {table} WHERE lesson = ?", (row,))
    sql.execute("DELETE FROM lesson_text WHERE rowid = ?", (row,))


def text_columns(lesson: Lesson) -> tuple[str, str, str, str, str]:
    """Title, insight, reason, expanded identifiers and error: the columns BM25 weighs."""
    reason = "\n".join((lesson.why, lesson.how, *lesson.snippets))
    names = " ".join((*lesson.paths, *lesson.globs, *lesson.symbols, *lesson.tags, lesson.topic_key, lesson.command))
    spoken = "\n".join((lesson.title, lesson.insight, reason, names, lesson.error_signature))
    return lesson.title, lesson.insight, reason, f"{names} {words.expand(spoken)}", lesson.error_signature


def scope_token(owner: str) -> str:
    """A word that stands for an owner in the full text; the last digit keeps the stemmer from touching it."""
    return f"zp{owner.encode().hex()}0" if owner else "zu0"


def lesson_tokens(lesson: Lesson) -> dict[str, float]:
    """The exact things a lesson can be asked for by, and what a hit on each is worth."""
    found: dict[str, float] = {}

    def add(token: str, weight: float) -> None:
        if token and len(found) < TOKEN_LIMIT:
            found[token] = max(weight, found.get(token, 0.0))

    add(lesson.provenance.session and SESSION_PREFIX + lesson.provenance.session, 0.0)
    add(lesson.error_signature and "error " + lesson.error_signature, SIGNATURE)
    add(lesson.command and "run " + lesson.command, COMMAND)
    add(lesson.topic_key.casefold(), TOPIC)
    for symbol in lesson.symbols:
        add(symbol.casefold(), SYMBOL)
        add(_unnumbered(symbol).casefold(), SYMBOL)  # the second of a name is asked for by the name
        add(_last_part(symbol), PART)
    for path in lesson.paths:
        add(path.casefold(), PATH)
        add(path.casefold().rpartition("/")[2], FILE)
    for name in identifiers(" ".join((lesson.title, lesson.insight, lesson.why, lesson.how, *lesson.snippets))):
        add(name, MENTION)
    return found


def identifiers(text: str) -> list[str]:
    """The words of a text that name one exact thing: symbols, files, flags, error codes; case-folded, each once."""
    if len(text) > TEXT_LIMIT:
        text = text[: TEXT_LIMIT // 2] + " " + text[-TEXT_LIMIT // 2 :]
    found: dict[str, None] = {}
    for raw in text.split():
        if raw.isalpha() and (raw.islower() or raw[1:].islower()):
            continue  # a plain word: nearly all of them
        for part in raw.replace("(", " ").replace("=", " ").replace(",", " ").split():
            word = part.strip(_EDGES).rstrip("/")
            if 2 < len(word) <= 120 and _is_exact(word):
                found[word.casefold()] = None
    return list(found)


def _is_exact(word: str) -> bool:
    if word.startswith("--"):
        return len(word) > 3
    core = word.strip("_-")
    if not core or not any(c.isalpha() for c in core):
        return False
    if "_" in core or "::" in core or "/" in core:
        return True
    if "." in core:
        return max(map(len, core.split("."))) > 2 and "://" not in core
    return _has_hump(core) or _is_code(core)


def _has_hump(word: str) -> bool:
    """camelCase, or PascalCase of two words; not ALL CAPS and not Capitalised."""
    return any(word[i].islower() and word[i + 1].isupper() for i in range(len(word) - 1))


def _is_code(word: str) -> bool:
    """E0308, TS2345, ORA-00942: capitals and at least two digits."""
    return word.isupper() and word[0].isalpha() and sum(c.isdigit() for c in word) >= 2


def _unnumbered(symbol: str) -> str:
    """`Store.put` of `Store.put#2`."""
    name, _, number = symbol.rpartition("#")
    return name if number.isdecimal() and name else symbol


def _last_part(symbol: str) -> str:
    last = _unnumbered(symbol).replace("::", ".").replace("#", ".").rpartition(".")[2].casefold()
    return last if len(last) > 3 and last != symbol.casefold() else ""


def _anchor_rows(row: int, lesson: Lesson, owner: str) -> Iterable[tuple[str, str, int, str, int]]:
    for path in dict.fromkeys((*lesson.paths, *(path for anchor in lesson.anchors for path in anchor.other_paths))):
        yield path, owner, row, path.rpartition("/")[0], 0
    for glob in lesson.globs:
        yield glob, owner, row, "", 1
