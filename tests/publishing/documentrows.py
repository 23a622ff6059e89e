"""The port `Documents` over a dict: what tests of the rules need of it. Backends are tested by their contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.team import StoredDocument
from holdfast.domain.vocabulary import LessonId, ProjectId


class DocumentRows:
    """Documents of all projects, with a counter for each."""

    def __init__(self) -> None:
        self.rows: dict[tuple[ProjectId, str], StoredDocument] = {}
        self.last: dict[ProjectId, int] = {}

    def hold(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        return self.get(project, ids)

    def get(self, project: ProjectId, ids: Sequence[str]) -> dict[str, StoredDocument]:
        return {id: self.rows[project, id] for id in ids if (project, id) in self.rows}

    def of_lessons(self, project: ProjectId, lessons: Sequence[LessonId]) -> dict[LessonId, StoredDocument]:
        wanted = set(lessons)
        return {row.lesson: row for (owner, _), row in self.rows.items() if owner == project and row.lesson in wanted}

    def write(self, project: ProjectId, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
        written = []
        for row in documents:
            self.last[project] = self.last.get(project, 0) + 1
            self.rows[project, row.id] = replace(row, seq=self.last[project])
            written.append(self.rows[project, row.id])
        return written

    def after(self, project: ProjectId, seq: int, limit: int = 1_000) -> list[StoredDocument]:
        rows = [row for (owner, _), row in self.rows.items() if owner == project and row.seq > seq]
        return sorted(rows, key=lambda row: row.seq)[:limit]

    def last_seqs(self, projects: Sequence[ProjectId]) -> dict[ProjectId, int]:
        return {project: self.last.get(project, 0) for project in projects}

    def remove_project(self, project: ProjectId) -> int:
        gone = [key for key in self.rows if key[0] == project]
        for key in gone:
            del self.rows[key]
        return len(gone)
