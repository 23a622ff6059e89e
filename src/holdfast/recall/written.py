"""Leaves out lessons that the README or a rules file says in nearly the same words: the agent reads it itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import RULES_READ
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.hostmarks import CONTEXT_FILES
from holdfast.lessons.tuning import RULES_FILES
from holdfast.ports.services import Services
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.tuning import RULES_FILE_BYTES, WRITTEN_LEAST_WORDS, WRITTEN_SHARE, WRITTEN_SPAN

README = "README.md"
_OURS = re.compile(r"<!-- holdfast:begin.*?(?:holdfast:end -->|\Z)", re.DOTALL)
"""What `holdfast rules` wrote into a file."""


def without_written(
    services: Services,
    location: Location,
    lessons: Iterable[Lesson],
    session: SessionId | None = None,
    *,
    by_us: bool = True,
) -> list[Lesson]:
    """Return the lessons that no such file of the work tree says within a few lines of each other.

    With `by_us` false, what Holdfast wrote into these files does not count: it goes when the lesson goes.
    """
    texts = rules_texts(services, location, files_read_by_host(services, session) if session else ())
    own = [text if by_us else _OURS.sub("\n", text) for text in texts]
    passages = passages_of(own)
    return [lesson for lesson in lessons if lesson.pinned or not is_written(lesson, passages)]


def passages_of(texts: Iterable[str]) -> list[frozenset[str]]:
    """Return the stems of every few consecutive lines of the texts."""
    return [frozenset(stems_of(passage)) for text in texts for passage in _passages(text)]


def is_written(lesson: Lesson, passages: Iterable[frozenset[str]], share: float = WRITTEN_SHARE) -> bool:
    """Return whether one of the passages has that share of the lesson's telling words, by default nearly all."""
    wanted = frozenset(stem for stem in stems_of(lesson.insight) if stem not in EVERYDAY and len(stem) > 2)
    if len(wanted) < WRITTEN_LEAST_WORDS:
        return False
    least = share * len(wanted)
    return any(len(wanted & passage) >= least for passage in passages)


def rules_texts(services: Services, location: Location, read_by_host: Iterable[str] = ()) -> Iterator[str]:
    """Yield the texts of the files that agents read: the usual ones, and those that the host has reported."""
    reported = (services.workspace.relative(location, path) for path in read_by_host)
    for name in dict.fromkeys((*CONTEXT_FILES, README, *filter(None, reported))):
        content = services.workspace.read(location, name)
        if content:
            yield content[:RULES_FILE_BYTES].decode("utf-8", "replace")


def _passages(text: str) -> Iterator[str]:
    """Yield every few consecutive lines of the text that are no questions."""
    lines = [line for line in text.splitlines() if line.strip() and not line.rstrip().endswith("?")]
    for at in range(max(1, len(lines) - WRITTEN_SPAN + 1)):
        yield "\n".join(lines[at : at + WRITTEN_SPAN])


# The rules files that a host has given to the agent of a session: what they say need not be told again


def note_files_read(services: Services, session: SessionId, paths: Sequence[str]) -> None:
    """Note that the host has given these files to the agent of the session. Raises StoreError."""
    lines = [path for path in paths if path.strip() and len(path.splitlines()) == 1]
    if lines and not set(lines) <= set(files_read_by_host(services, session)):
        services.store.edit_state(RULES_READ, session, lambda known: _joined(known, lines))


def files_read_by_host(services: Services, session: SessionId) -> tuple[str, ...]:
    """Return the files that the host says it has given to the agent of the session, as absolute paths.

    Empty for a host that does not say so. Claude Code reports them after the hook of a session's start and before the
    first prompt's, so the delivery at the start does not know them. Raises StoreError.
    """
    return tuple(services.store.get_state(RULES_READ, session).splitlines())


def _joined(known: str, lines: Sequence[str]) -> str:
    return "\n".join(list(dict.fromkeys([*known.splitlines(), *lines]))[:RULES_FILES])
