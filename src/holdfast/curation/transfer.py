"""Transfer: imports and exports whole lessons in bulk, as JSON lines (`curation.lessonline`).

An import is idempotent. A line with an id is that lesson: the version that was known later wins, and a tombstone stays
one. If no lesson has the id and another lesson states the same rule, the line adds what that one lacks.
A line without an id is the lesson of its scope and kind that states the same rule, in any state: a lesson that was
revised, rejected or taken back here does not return by another import.

A line for which nobody vouches (`LessonLine.authority` is `file`) only ever adds a waiting lesson and changes none.
"""

from __future__ import annotations

from collections import Counter

from holdfast.curation.conflicts import find_conflicts
from holdfast.curation.lessonline import IMPORTED, Intake, LessonLine, parse_line, render_line
from holdfast.curation.remember import find_same, same_rule
from holdfast.curation.sealing import Sealer
from holdfast.curation.tuning import LESSONS_A_PAGE, LESSONS_A_WRITE
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LIVING, STATES, LessonId
from holdfast.errors import InvalidValueError, LessonNotFoundError
from holdfast.lean.records import Frozen, replace
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import anchors_of, merged
from holdfast.ports.filters import LessonFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from holdfast.domain.lesson import Anchor
    from holdfast.domain.project import Location
    from holdfast.domain.records import Change
    from holdfast.domain.vocabulary import State
    from holdfast.ports.services import Services

COMPARED = tuple(
    name for name in Lesson.fields_ if name not in ("id", "recorded_at", "retracted_at", "scope", "private")
)
"""Fields that an import compares between two versions of a lesson."""


class ImportReport(Frozen):
    """The result of an import; each line is counted once in added, revised, unchanged or failed."""

    added: int = 0
    """Added lessons, including waiting and quarantined ones."""
    revised: int = 0
    unchanged: int = 0
    failed: tuple[tuple[int, str], ...] = ()
    """(line number from 1, reason) of the lines that are no lessons."""
    ignored: tuple[tuple[str, int], ...] = ()
    """(key, how often) of keys that were not understood."""
    waiting: int = 0
    """Added lessons for which nobody vouches: they wait in the inbox."""
    quarantined: int = 0
    """Added lessons whose words are suspicious."""
    exported: int = 0
    """Lines that another home exported and for which nobody vouches."""
    conflicts: int = 0
    """Pairs of lessons that cannot hold together, at least one of which this import added or revised."""


class _Import:
    """One run: its log record and its counts."""

    def __init__(self, services: Services, location: Location, intake: Intake, dry: bool) -> None:
        self.services = services
        self.location = location
        self.intake = intake
        self.dry = dry
        self.change: Change | None = None
        """The run's single record, which grows with every batch."""
        self.counts = Counter[str]()
        self.failed: list[tuple[int, str]] = []
        self.ignored: dict[str, int] = {}
        self._anchored: dict[tuple[tuple[str, ...], ...], tuple[tuple[Anchor, ...], tuple[str, ...]]] = {}

    def write(self, batch: Sequence[LessonLine]) -> None:
        """Write a batch in one transaction; count it only after it was written."""
        counts, after, expected = self._plan(batch)
        if after and not self.dry:
            lessons = list(after.values())
            self.change = write_change(
                self.services, self.location, "import", lessons, expected, extends=self.change
            ).change
        self.counts.update(counts)

    def anchored(self, line: LessonLine) -> Lesson:
        """Return the line's lesson anchored to its present files; InvalidValueError for a file outside."""
        if line.lesson.anchors or line.lesson.scope.project != self.location.project.id:
            return line.lesson
        key = (line.files, line.symbols)
        if key not in self._anchored:
            self._anchored[key] = anchors_of(self.services, replace(self.location, prefix=""), *key)
        anchors, folders = self._anchored[key]
        return replace(line.lesson, anchors=anchors, globs=(*line.lesson.globs, *folders))

    def report(self) -> ImportReport:
        """Return the counts so far."""
        return ImportReport(
            **self.counts, failed=tuple(self.failed), ignored=tuple(sorted(self.ignored.items())),
            conflicts=len(find_conflicts(self.services, self.location, set(self.change.lessons))) if self.change else 0,
        )  # fmt: skip

    def _plan(
        self, batch: Sequence[LessonLine]
    ) -> tuple[Counter[str], dict[LessonId, Lesson], dict[LessonId, datetime | None]]:
        counts = Counter[str]()
        after: dict[LessonId, Lesson] = {}
        expected: dict[LessonId, datetime | None] = {}
        rules: dict[tuple[str, ...], LessonId] = {}
        for line in batch:
            counts["exported"] += line.exported
            rule = same_rule(line.lesson)
            known = after.get(line.lesson.id if "id" in line.given else rules.get(rule, line.lesson.id))
            known = known or self._known(line)
            if known is None and line.lesson.state in LIVING:
                known = self._same_here(line, after, rules)
            written = _next_version(known, line) if known is not None else line.lesson
            if written is None:
                counts["unchanged"] += 1
                continue
            counts["added" if known is None else "revised"] += 1
            if known is None:
                counts["quarantined"] += written.state == "quarantined"
                counts["waiting"] += written.state == "candidate" and line.authority == "file"
                expected[written.id] = None
            elif known.id not in after:
                expected[known.id] = known.recorded_at
                written = replace(written, recorded_at=self.services.clock.now())
            after[written.id] = written
            rules[rule] = written.id
        return counts, after, expected

    def _known(self, line: LessonLine) -> Lesson | None:
        if "id" not in line.given:
            return find_same(self.services, line.lesson, STATES)
        try:
            return self.services.store.get([line.lesson.id])[0]
        except LessonNotFoundError:
            same = find_same(self.services, line.lesson, ("candidate", "active"))
            # The same line was imported before without anybody to vouch for it, so its id did not count.
            return same if same is not None and same.provenance.detector == IMPORTED else None

    def _same_here(
        self, line: LessonLine, after: Mapping[LessonId, Lesson], rules: Mapping[tuple[str, ...], LessonId]
    ) -> Lesson | None:
        """Return the living lesson here that states the rule of another memory's lesson."""
        stated = after.get(rules.get(same_rule(line.lesson), LessonId("")))
        if stated is not None and stated.state in LIVING:
            return stated
        same = find_same(self.services, line.lesson)
        return None if same is None else after.get(same.id, same)


def import_lessons(
    services: Services,
    location: Location,
    lines: Iterable[str],
    *,
    accept: bool = False,
    origin: str = "JSON lines",
    progress: Callable[[int], None] | None = None,
    dry: bool = False,
) -> ImportReport:
    """Import the lines with one log record for the whole run; `progress` gets the number of lines done.

    With `accept` a person vouches for the lines. Otherwise only lines that this home exported have authority; the
    others wait in the inbox, with `origin` as their source. A `dry` run writes nothing and reports what would happen,
    each batch independent of the others.
    """
    sealer = Sealer(services.export_key(False))
    intake = Intake(project=location.project.id, sealer=sealer, accept=accept, origin=origin)
    run = _Import(services, location, intake, dry)
    for number, batch in _batches(run, lines):
        _write(run, batch)
        if progress:
            progress(number)
    return run.report()


def export_lessons(
    services: Services, location: Location, *, states: Sequence[State] = ("active",), all_projects: bool = False
) -> Iterator[str]:
    """Yield lessons as sealed lines without line ends, newest first, redacted again, without private ones."""
    sealer = Sealer(services.export_key(True))
    where = LessonFilter(
        project=location.project.id, all_projects=all_projects, states=tuple(states), limit=LESSONS_A_PAGE
    )
    while page := services.store.find(where):
        for lesson in page:
            if not lesson.private:
                yield render_line(lesson, with_project=all_projects, sealer=sealer)
        where = replace(where, offset=where.offset + len(page))


def _write(run: _Import, batch: Sequence[LessonLine]) -> None:
    with_retries(lambda: run.write(batch))


def _batches(run: _Import, lines: Iterable[str]) -> Iterator[tuple[int, list[LessonLine]]]:
    batch: list[LessonLine] = []
    number = 0
    for number, text in enumerate(lines, 1):
        line = _read(run, number, text)
        if line is not None:
            batch.append(line)
        if len(batch) == LESSONS_A_WRITE:
            yield number, batch
            batch = []
    yield number, batch


def _read(run: _Import, number: int, text: str) -> LessonLine | None:
    """Return the line, anchored; None for a blank line and for an impossible lesson, which is recorded as failed."""
    text = text.lstrip("\ufeff").strip()
    if not text:
        return None
    clock = run.services.clock
    try:
        line = parse_line(text, run.intake, at=clock.now(), new_id=clock.new_id)
        line = replace(line, lesson=run.anchored(line))
    except InvalidValueError as exc:
        run.failed.append((number, str(exc)))
        return None
    for key in line.ignored:
        run.ignored[key] = run.ignored.get(key, 0) + 1
    return line


def _next_version(known: Lesson, line: LessonLine) -> Lesson | None:
    """Return the known lesson updated by the line, or None when the line says nothing new."""
    if known.state == "forgotten" or line.authority == "file":
        return None
    if known.state == "candidate" and known.provenance.detector == IMPORTED:  # the line has authority now
        return replace(line.lesson, id=known.id, scope=known.scope, provenance=known.provenance)
    if known.provenance.detector == IMPORTED and known.id != line.lesson.id and "id" in line.given:
        return None
    if "id" not in line.given or line.lesson.id != known.id:
        gains = merged(known, line.lesson) if known.state in ("active", "candidate") else {}
        return replace(known, **gains) if gains else None
    if "created_at" in line.given and line.lesson.recorded_at <= known.recorded_at:
        return None
    after = replace(line.lesson, scope=known.scope, private=known.private)
    return after if any(getattr(after, name) != getattr(known, name) for name in COMPARED) else None
