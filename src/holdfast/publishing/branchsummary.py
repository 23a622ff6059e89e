"""Summarises what a branch's sessions learnt, changed and retired, for the description of a pull request.

Two sources are joined. Lesson files that the branch changed are read from git, so a machine without a memory can report
them. The memory adds what its own sessions on the branch did, shared or not. Private lessons, the user's own, and those
that nobody vouched for are left out: a pull request is public.
"""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.kinds import profile_of
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LIVING
from holdfast.errors import InvalidValueError, LessonNotFoundError
from holdfast.lean.records import Frozen, replace
from holdfast.lessons.staging import fork_of
from holdfast.ports.store import EventFilter, LogFilter
from holdfast.publishing.publication import publishable
from holdfast.publishing.sharing.document import Document, tombstone
from holdfast.publishing.sharing.lessonfile import FileProblem, parse
from holdfast.text.words import duplicate_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import LessonId, SessionId
    from holdfast.ports.branches import Branches
    from holdfast.ports.services import Services

FOLDER = ".holdfast/lessons"
SECTIONS = {"new": "New", "revised": "Revised", "retired": "No longer valid", "refuted": "Learnt and refuted"}
MARKER = "<!-- holdfast pr -->"
"""The first line of the summary, by which a job finds its own comment."""
CHANGES_AT_MOST = 5_000
"""Changes of the project, the latest, among which those of the branch are looked for."""
SECOND = timedelta(seconds=1)
"""By so much git's times may be before ours: they are whole seconds."""


class Row(Frozen):
    """One lesson that the branch added, changed or ended. Texts are one redacted line each."""

    verb: str
    """One of `SECTIONS`."""
    kind: str
    insight: str
    why: str = ""
    before: str = ""
    """The rule that a revised lesson replaces."""
    anchors: tuple[str, ...] = ()
    """`path` or `path::symbol`."""
    source: str = ""
    """Who said it, or what found it."""
    file: str = ""
    """The lesson's file, if shared; relative to the project's root."""
    lesson: str = ""
    """Its id in the memory or in its file."""
    doubt: str = ""
    """Why its words may be untrustworthy, e.g. because they address the agent; empty if there is no reason."""


class Summary(Frozen):
    """What a branch taught."""

    base: str
    """The commit at which it began."""
    head: str
    rows: tuple[Row, ...] = ()
    waiting: int = 0
    """Lessons of the branch that wait in the inbox and are left out."""
    problems: tuple[FileProblem, ...] = ()
    """Files that cannot be read."""


def summarise(branches: Branches, head: str, base: str, memory: tuple[Services, Location] | None = None) -> Summary:
    """Return the summary of `base...head`, from the files and, if given, from the memory.

    `base` is a name that a person uses; empty means the main line, on which the memory adds nothing: it is no branch.
    Raises InvalidValueError unless git knows both and a common commit.
    """
    lines = [branches.resolve(base)] if base else branches.main_commits() or []
    if not all(lines) or not lines or not head:
        what = f"no commit {base!r}" if base else "no main line"
        raise InvalidValueError(f"{what} in this repository", hint="name a base: holdfast pr origin/main")
    fork = fork_of(branches, head, lines)
    if not fork:
        raise InvalidValueError(
            "the branch has no commit in common with its base", hint="fetch the whole history, e.g. fetch-depth: 0"
        )
    rows, problems = _from_files(branches, fork, head)
    waiting = 0
    if memory is not None and (base or not branches.is_main(memory[1].branch)):
        times = (
            branches.time(fork),
            branches.created(memory[1].branch),
        )  # the earlier of both: a rebase moves the fork, but not the sessions
        own, waiting = _from_memory(*memory, min(filter(None, times), default=None))
        files = {duplicate_key(row.insight) for row in rows}
        rows += [row for row in own if duplicate_key(row.insight) not in files]
    order = list(SECTIONS)
    rows.sort(key=lambda row: (order.index(row.verb), row.kind, row.insight))
    return Summary(base=fork, head=head, rows=tuple(rows), waiting=waiting, problems=tuple(problems))


def render_markdown(summary: Summary) -> str:
    """Return the summary as Markdown that begins with `MARKER`."""
    lines = [MARKER, "## What this branch taught", ""]
    if not summary.rows:
        lines.append("No lesson is new, revised or retired.")
    for verb, title in SECTIONS.items():
        rows = [row for row in summary.rows if row.verb == verb]
        if rows:
            lines += [f"### {title} ({len(rows)})", "", *(line for row in rows for line in _lines(row)), ""]
    for problem in summary.problems:
        lines.append(f"- `{FOLDER}/{problem.path}:{problem.line}:{problem.column}` cannot be read: {problem.reason}")
    return "\n".join(lines).rstrip() + "\n"


def _lines(row: Row) -> Iterable[str]:
    yield f"- **{row.insight}**" + (f" (was: {row.before})" if row.before else "")
    if row.why:
        yield f"  Why: {row.why}"
    if row.doubt:
        yield f"  Caution: {row.doubt}"
    about = [f"`{anchor}`" for anchor in row.anchors]
    details = [row.kind.replace("_", " "), row.source, ", ".join(about), f"[file]({row.file})" if row.file else ""]
    yield "  " + " · ".join(filter(None, details))


# From files


def _from_files(branches: Branches, fork: str, head: str) -> tuple[list[Row], list[FileProblem]]:
    rows: list[Row] = []
    problems: list[FileProblem] = []
    for file in branches.changed(fork, head) or ():
        path = file.removeprefix(FOLDER + "/")
        if path == file or not path.endswith(".md"):
            continue
        content = branches.file(head, file)
        if content is None:
            continue  # a deleted file ends no lesson
        after, before = parse(path, content), parse(path, branches.file(fork, file) or b"")
        if isinstance(after, FileProblem):
            problems.append(after)
            continue
        document = after.document
        old = tombstone(document.id, "") if isinstance(before, FileProblem) else before.document
        row = _row_of_files(document, old, file, is_new=isinstance(before, FileProblem))
        if row is not None:
            rows.append(replace(row, doubt=after.doubt))
    return rows, problems


def _row_of_files(document: Document, old: Document, file: str, is_new: bool) -> Row | None:
    values = document.values
    was_active, is_active = old.values["state"] == "active", values["state"] == "active"
    if not is_active and (is_new or not was_active):
        return None
    verb = "new" if is_new else "retired" if not is_active else "revised"
    shown = values if values["insight"] else {**values, "insight": f"A lesson was forgotten ({_short(file)})"}
    said_by, person = values["provenance"].get("said_by", ""), values["provenance"].get("person", "")
    before = old.values["insight"] if verb == "revised" and old.values["insight"] != values["insight"] else ""
    return Row(
        verb=verb,
        kind=values["kind"],
        insight=publishable(shown["insight"]),
        why=publishable(values["why"]),
        before=publishable(before),
        anchors=tuple(_place(anchor["path"], anchor.get("symbol", "")) for anchor in values["anchors"]),
        source=_source(said_by, person, values["provenance"].get("detector", ""), values["provenance"].get("host", "")),
        file=file,
        lesson=document.id,
    )


def _short(file: str) -> str:
    """Return the name of a lesson's file without its ending."""
    return file.rpartition("/")[2].removesuffix(".md")


# From the memory


def _from_memory(services: Services, location: Location, begun: datetime | None) -> tuple[list[Row], int]:
    """Return rows of lessons that sessions on the location's branch changed since then, and how many of them wait."""
    if not location.branch or begun is None:
        return [], 0
    where = LogFilter(project=location.project.id, limit=CHANGES_AT_MOST)
    changes = [change for change in services.store.find_records(Change, where) if change.at >= begun - SECOND]
    ids = dict.fromkeys(lesson for change in reversed(changes) for lesson in change.lessons)
    lessons = [lesson for id in ids if (lesson := _get(services, id)) is not None]
    own = _Sessions(services, location)
    rows: list[Row] = []
    waiting = 0
    for lesson in lessons:
        if lesson.private or lesson.scope.project != location.project.id or profile_of(lesson.kind).is_working_state:
            continue
        if not own.has(lesson):
            continue
        before = _get(services, lesson.id, begun)
        waiting += before is None and lesson.state in LIVING and lesson.state != "active"
        row = _row_of_memory(services, lesson, before)
        if row is not None:
            rows.append(row)
    return rows, waiting


def _row_of_memory(services: Services, lesson: Lesson, before: Lesson | None) -> Row | None:
    was_told, is_told = before is not None and before.state == "active", lesson.state == "active"
    old = ""
    if is_told and not was_told:
        replaced = [link.target for link in lesson.links if link.kind == "supersedes"]
        former = _get(services, replaced[0]) if replaced else None
        old = former.insight if former is not None else ""
        verb = "revised" if old else "new"
    elif is_told and before is not None:
        if (lesson.insight, lesson.why, lesson.how) == (before.insight, before.why, before.how):
            return None
        verb, old = "revised", before.insight if before.insight != lesson.insight else ""
    elif lesson.state == "retired" and was_told:
        verb = "retired"
    elif lesson.state == "retired" and before is None and lesson.provenance.session:
        verb = "refuted"
    else:
        return None  # only its file shows a forgotten lesson, without its words
    source = lesson.provenance
    return Row(
        verb=verb,
        kind=lesson.kind,
        insight=publishable(lesson.insight),
        why=publishable(lesson.why),
        before=publishable(old),
        anchors=tuple(dict.fromkeys(_place(anchor.path, anchor.symbol) for anchor in lesson.anchors if anchor.path)),
        source=_source(lesson.trust, source.person_name, source.detector, source.host),
        lesson=lesson.id,
    )


class _Sessions:
    """Decides which lessons belong to the branch: staged on it, anchored there, or seen in a session on it."""

    def __init__(self, services: Services, location: Location) -> None:
        self._services = services
        self._location = location
        self._known: dict[SessionId, bool] = {}

    def has(self, lesson: Lesson) -> bool:
        """Return whether the lesson belongs to the branch."""
        branch = self._location.branch
        if branch in (lesson.scope.branch, *(anchor.branch for anchor in lesson.anchors)):
            return True
        return any(map(self._was_on, {lesson.provenance.session, *lesson.sessions_seen} - {""}))

    def _was_on(self, session: SessionId) -> bool:
        """Return whether the session began or ended on the branch."""
        if session not in self._known:
            where = EventFilter(project=self._location.project.id, session=session, limit=1)
            find = self._services.store.find_events
            ends = [*find(where), *find(replace(where, last=1))]
            self._known[session] = any(event.branch == self._location.branch for _, event in ends)
        return self._known[session]


def _get(services: Services, lesson: LessonId, as_of: datetime | None = None) -> Lesson | None:
    """Return the lesson as it was known then; None if it did not exist, or was erased."""
    try:
        return services.store.get([lesson], as_of)[0]
    except LessonNotFoundError:
        return None


def _place(path: str, symbol: str) -> str:
    return f"{path}::{symbol}" if symbol else path


def _source(trust: str, person: str, detector: str, host: str) -> str:
    """Return who said it or what found it, e.g. `said by Ada` or `found by fail_fix in claude-code`."""
    if trust == "person":
        return publishable(f"said by {person or 'a person'}")
    origin = f"found by {detector.partition('/')[0]}" if detector else "stated by an agent" if trust == "agent" else ""
    return publishable(" in ".join(filter(None, (origin, host))))
