"""A project and a home to import from, and a shorter way to read one file as an importer would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.backfill.importing import find_sources, read_source
from holdfast.curation.adopt import Adopting, PassageOutcome, SourceContents
from holdfast.ports.plugins import Passage, Skipped

Write = Callable[[str, str], Path]
Read = Callable[..., list[Passage | Skipped]]
Take = Callable[..., list[PassageOutcome]]


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder, which is the current one."""
    folder = tmp_path / "harbour"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "tides.py").write_text("HIGH = 4\n\n\ndef predict(hour):\n    return hour * HIGH\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def memory(project: Path) -> Iterator[Memory]:
    """The project's memory."""
    with Memory(str(project)) as opened:
        yield opened


@pytest.fixture
def write(project: Path) -> Write:
    """Write a file of the project, or of the home for a name that begins with `~/`."""

    def write(name: str, text: str) -> Path:
        path = project.parent / name[2:] if name.startswith("~/") else project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(project: Path) -> Read:
    """What the importer that knows a path reads from it; `name` takes that importer."""

    def read(path: Path, name: str = "") -> list[Passage | Skipped]:
        search = find_sources(str(path), str(project), str(project.parent), name)
        return [part for source in search.found for part in read_source(source)]

    return read


@pytest.fixture
def take(memory: Memory, project: Path) -> Take:
    """Import a path and return the steps; keywords are those of `Adopting`."""

    def take(path: Path, **how: object) -> list[PassageOutcome]:
        search = find_sources(str(path), str(project), str(project.parent))
        readings = [
            SourceContents(label=source.source.label, importer=source.importer.id, parts=read_source(source))
            for source in search.found
        ]
        return list(memory.adopt(readings, Adopting(**how)))

    return take


def insights(parts: list[Passage | Skipped]) -> list[str]:
    """What the passages say, in order."""
    return [part.insight for part in parts if isinstance(part, Passage)]


def reasons(parts: list[Passage | Skipped]) -> list[str]:
    """Why parts were left out, in order."""
    return [part.reason for part in parts if isinstance(part, Skipped)]


def verbs(steps: list[PassageOutcome]) -> list[str]:
    """What became of each passage, in order."""
    return [step.verb for step in steps]
