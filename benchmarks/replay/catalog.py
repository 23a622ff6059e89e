"""The catalog of sessions and its gold: lessons worth keeping, and the moments that needed one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import hashes_of, require


@dataclass(frozen=True)
class Session:
    """One recorded session; `blob` is its transcript's object in the repository."""

    number: int
    id: str
    blob: str
    began_at: datetime


@dataclass(frozen=True)
class GoldLesson:
    """A lesson that a reader of the session would keep. Grade 3 is the best, 1 is marginal."""

    id: str
    session: int
    event: int
    kind: str
    grade: int
    lesson: str
    quote: str
    role: str = "user"
    """Whose words it rests on: user, agent, failure, summary or commit."""
    why: str = ""
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    command: str = ""
    title: str = ""
    """Its statement in at most twelve words; empty: the product makes one."""


@dataclass(frozen=True)
class Need:
    """The event of a session at which earlier lessons would have helped; any one of them meets it."""

    session: int
    event: int
    moment: str
    strength: int
    lessons: frozenset[str]
    because: str = ""
    file: str = ""
    command: str = ""


@dataclass(frozen=True)
class Catalog:
    """The sessions in order of time, and what readers noted about them."""

    sessions: tuple[Session, ...]
    gold: tuple[GoldLesson, ...]
    needs: tuple[Need, ...]
    sha256: dict[str, str]

    def before(self, first: int) -> Catalog:
        """The sessions before the one at position `first`, with their gold and needs."""
        return self.window(0, first)

    def window(self, first: int, count: int) -> Catalog:
        """That many sessions from the one at position `first`, with their gold and needs."""
        sessions = self.sessions[first : first + count]
        numbers = {session.number for session in sessions}
        return Catalog(
            sessions,
            tuple(lesson for lesson in self.gold if lesson.session in numbers),
            tuple(need for need in self.needs if need.session in numbers),
            self.sha256,
        )


TITLES = Path(__file__).with_name("titles.json")
"""By gold lesson, a title that a careful reader wrote."""


def load_catalog(folder: Path, titles: Mapping[str, str] | None = None) -> Catalog:
    """Read `catalog.jsonl` and `gold/` of the folder; raises MissingSetError naming a file that is not there.

    `titles`: by gold lesson, its title where the gold has none.
    """
    files = require(folder, "catalog.jsonl", "gold/numbered.json")
    needs_files = sorted((folder / "gold").glob("pass2_*.jsonl"))
    sessions = [Session(row["n"], row["sid"], row["blob"], parse_instant(row["ts"])) for row in _rows(files[0])]
    gold = [_gold_lesson(row) for row in json.loads(files[1].read_text("utf-8"))]
    gold = [replace(lesson, title=lesson.title or (titles or {}).get(lesson.id, "")) for lesson in gold]
    needs = [_need(row) for file in needs_files for row in _rows(file)]
    return Catalog(tuple(sessions), tuple(gold), tuple(needs), hashes_of([*files, *needs_files]))


def load_titles(file: Path = TITLES) -> dict[str, str]:
    """The titles of a file; none without the file."""
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def parse_instant(text: str) -> datetime:
    """The aware UTC instant of an ISO text with an offset."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def _gold_lesson(row: dict[str, Any]) -> GoldLesson:
    return GoldLesson(
        id=row["id"], session=row["s"], event=row["e"], kind=row["kind"], grade=row["grade"],
        lesson=row["lesson"], quote=row["quote"], role=row.get("role", "user"), why=row.get("why", ""),
        files=tuple(row.get("files", ())), symbols=tuple(row.get("symbols", ())), command=row.get("command", ""),
        title=row.get("title", ""),
    )  # fmt: skip


def _need(row: dict[str, Any]) -> Need:
    return Need(
        row["s"], row["e"], row["moment"], row["strength"], frozenset(row["lessons"]),
        because=row.get("because", ""), file=row.get("file", ""), command=row.get("command", ""),
    )  # fmt: skip
