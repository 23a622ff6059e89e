"""Anchoring: turns what is known of a lesson's subject into anchors to the present code.

A lesson is anchored to its subject and not to every file that was touched. In order of preference the anchors are the
definitions that somebody names, those in the lesson's words, those that were edited, those in a traceback, and only
then whole files. Names are looked up in the lesson's own files first, then in the project; an ambiguous name is left
out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import CommitPoint, Location
from holdfast.domain.symbol import Symbol
from holdfast.errors import HoldfastError
from holdfast.lessons.tuning import ANCHORS_MOST, OUTPUT_LIMIT, PRESENT_H, SHORTEST_LINE
from holdfast.ports.services import Services
from holdfast.text.named import clues_in

MERGED = ("from", "branch")
"""Words before a branch's name in the subject of its merge: `from owner/branch`, `branch 'name'`."""

Lines = tuple[int, int]

FOREIGN = ("site-packages/", "node_modules/", "dist-packages/", ".venv/", "vendor/")
"""Path segments of code that is not the project's own."""

_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([\w.<>]+))?')
_OTHER_FRAME = re.compile(r"(?:\bat ([\w.$<>]+) \()?(?<![\w@+~./\\-])([\w@+~./\\-]{1,300}\.[A-Za-z]{1,5}):(\d+)\b")
_QUOTED = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")
_AT_LINES = re.compile(r"^(.+?):(\d+)(?:-(\d+))?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReference:
    """A file as a person names it: `path`, `path:12`, `path:12-20` or `path::Store.put`."""

    path: str
    symbol: str = ""
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A location in a failure's output; `function` is empty where the output does not name it."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is known of a lesson's subject. Paths are relative to the project's root."""

    files: tuple[str, ...] = ()
    """Most relevant first."""
    symbols: tuple[str, ...] = ()
    """Names that somebody gave explicitly: they are kept even if no such definition is found."""
    lines: tuple[tuple[str, tuple[int, int]], ...] = ()
    """Line ranges of files that somebody gave explicitly, the last line included."""
    words: str = ""
    """The lesson's own words."""
    edits: tuple[tuple[str, str], ...] = ()
    """(path, text) of each edit, with the text that was written."""
    output: str = ""
    """The output of a failure."""
    guessed: bool = False
    """A detector chose the files: if definitions are found, files without further evidence are dropped."""


def parse_named(services: Services, location: Location, name: str, cwd: str) -> FileReference:
    """Parse a file's name as a person writes it; an existing file of exactly that name has precedence."""
    path, double, symbol = name.partition("::")
    if double and symbol:
        return FileReference(path=path, symbol=symbol.replace("::", "."))
    match = _AT_LINES.match(name)
    if not match or services.workspace.exists(location, services.workspace.relative(location, name, cwd)):
        return FileReference(path=name)
    first = int(match[2])
    return FileReference(path=match[1], lines=(first, max(first, int(match[3] or first))))


def anchor_subject(services: Services, location: Location, subject: Subject) -> tuple[Anchor, ...]:
    """Return anchors to the subject in the present code, most telling first; at most eight. Never raises."""
    return _Anchoring(services, location, subject).run()


def renew(services: Services, location: Location, anchor: Anchor) -> Anchor | None:
    """Return the anchor with present fingerprints at the definition's present location; the file alone if it is gone.

    Return None when nothing of it is left. An anchor without a file stays as it is.
    """
    if not anchor.path:
        return anchor
    here = _look_up(services, location, anchor.path, [anchor.symbol] if anchor.symbol else [], None)
    if here and here[0].symbol == anchor.symbol:
        return here[0]
    index = services.codeindex()
    verdict = index.verdict(location, anchor) if index else None
    now = verdict.anchor if verdict else anchor
    if (now.path, now.symbol) != (anchor.path, anchor.symbol):
        return replace(now, commit=location.commit, branch=location.branch)
    return here[0] if here else None


def frames_in(output: str) -> list[Frame]:
    """Return the locations in a traceback, outermost first, as it names them."""
    text = output[-OUTPUT_LIMIT:]
    placed = [(m.start(), Frame(path=m[1], line=int(m[2]), function=m[3] or "")) for m in _PYTHON_FRAME.finditer(text)]
    placed += [(m.start(), Frame(path=m[2], line=int(m[3]), function=m[1] or "")) for m in _OTHER_FRAME.finditer(text)]
    return [frame for _, frame in sorted(placed, key=lambda pair: pair[0])]


def subject_of(events: Iterable[Event], files: Sequence[str], words: str) -> Subject:
    """Return the subject of a detector's candidate from its events: what was edited, what a failure printed."""
    all_events = list(events)
    edits = [
        (event.files[0], event.new) for event in all_events if event.kind == "file_edit" and event.files and event.new
    ]
    failed = [event.text for event in all_events if event.kind == "tool_failure" or event.exit_code not in (None, 0)]
    return Subject(
        files=tuple(files),
        words=words,
        edits=tuple(edits),
        output=failed[0] if failed else "",  # a later failure is a different one, met on the way
        guessed=True,
    )


class _Anchoring:
    """The search for one subject's anchors."""

    def __init__(self, services: Services, location: Location, subject: Subject) -> None:
        self._services = services
        self._location = location
        self._subject = subject
        clues = clues_in(subject.words)
        self._mentioned = self._own_files(clues.paths)
        self._identifiers = tuple(dict.fromkeys((*_QUOTED.findall(subject.words), *clues.symbols)))
        self._frames = self._own_frames() if subject.output else []
        self._unplaced = list(dict.fromkeys(subject.symbols))

    def run(self) -> tuple[Anchor, ...]:
        """Return the anchors."""
        subject = self._subject
        files = dict.fromkeys(subject.files or self._mentioned)
        anchors = [anchor for path in files for anchor in self._anchors_in_file(path)]
        anchors += self._anchors_by_name(self._unplaced)
        if not any(anchor.path for anchor in anchors):
            anchors += self._anchors_by_name(self._identifiers) or self._anchors_of_last_frame()
        return tuple(self._without_guesses(self._with_unplaced(anchors, next(iter(files), ""))).values())[:ANCHORS_MOST]

    def _with_unplaced(self, anchors: list[Anchor], first: str) -> list[Anchor]:
        """Add explicit names without a definition as anchors to the first file."""
        if not self._unplaced:
            return anchors
        whole = (self._look(first) if first else []) or [Anchor(path=first)]
        others = [anchor for anchor in anchors if anchor.symbol or anchor.path != first]
        unplaced = [self._owner(first, name) or replace(whole[0], symbol=name) for name in self._unplaced]
        return unplaced + others

    def _owner(self, path: str, name: str) -> Anchor | None:
        """Return the innermost definition whose name begins the given one and whose lines contain its last part.

        A member that a language's grammar does not show is thus anchored to its class, not to the whole file.
        """
        owner, _, member = name.replace("::", ".").removesuffix("()").rpartition(".")
        index, content = (
            self._services.codeindex(),
            self._services.workspace.read(self._location, path) if path else None,
        )
        while owner and index is not None and content is not None:
            for symbol in index.outline(path, content).symbols:
                if _means(owner, symbol.name) and member in _words(content[symbol.start_byte : symbol.end_byte]):
                    return next(iter(self._definitions(self._look(path, [symbol.name]))), None)
            owner = owner.rpartition(".")[0]
        return None

    def _anchors_in_file(self, path: str) -> list[Anchor]:
        """Return anchors to the definitions meant in one file, by the strongest evidence; else to the file."""
        named = self._look(path, self._unplaced)
        self._unplaced = [name for name in self._unplaced if not any(_means(name, anchor.symbol) for anchor in named)]
        spans = [lines for file, lines in self._subject.lines if file == path]
        return (
            self._definitions(named + [anchor for lines in spans for anchor in self._look(path, lines=lines)])
            or self._definitions(self._look(path, self._identifiers))
            or self._definitions(self._anchors_of_edits(path))
            or self._definitions(self._anchors_of_frame(path))
            or self._look(path)
            or [Anchor(path=path, commit=self._location.commit, branch=self._location.branch)]
        )

    def _anchors_of_edits(self, path: str) -> list[Anchor]:
        written = [text for file, text in self._subject.edits if file == path]
        content = self._services.workspace.read(self._location, path) if written else None
        if content is None:
            return []
        text = content.decode("utf-8", "replace")
        spans = [lines for new in written if (lines := lines_of(text, new)) is not None]
        return [anchor for lines in spans for anchor in self._look(path, lines=lines)]

    def _anchors_of_frame(self, path: str) -> list[Anchor]:
        """Return the innermost location of the failure in the file, by the function's name, else by the line."""
        for frame in reversed(self._frames):
            if frame.path == path:
                by_name = self._look(path, [frame.function]) if frame.function.isidentifier() else []
                return self._definitions(by_name) or self._look(path, lines=(frame.line, frame.line))
        return []

    def _anchors_of_last_frame(self) -> list[Anchor]:
        """Return the innermost location of the failure in the project, for a lesson without any file."""
        return self._anchors_of_frame(self._frames[-1].path) if self._frames else []

    def _anchors_by_name(self, names: Sequence[str]) -> list[Anchor]:
        """Find names anywhere in the project that mean one definition, or definitions of one name in one file."""
        located = []
        for name in names:
            symbol = self._find_unique(name)
            anchors = self._definitions(self._look(symbol.path, [_unnumbered(symbol.name)])) if symbol else []
            located += anchors
            if anchors and name in self._unplaced:
                self._unplaced.remove(name)
        return located

    def _find_unique(self, name: str) -> Symbol | None:
        """Return the only definition of that name; an explicit name is also searched for where no index has it."""
        index = self._services.codeindex()
        try:
            symbols = index.find(self._location, name) if index else []
            if index and not symbols and name in self._unplaced:
                symbols = index.search(self._location, name)
        except HoldfastError:
            return None  # the index is derived: without it the name is not looked up
        return symbols[0] if len({(symbol.path, _unnumbered(symbol.name)) for symbol in symbols}) == 1 else None

    def _without_guesses(self, anchors: Sequence[Anchor]) -> dict[tuple[str, str], Anchor]:
        """Return each anchor once; drop files that a detector guessed when there are definitions."""
        by_place = {(anchor.path, anchor.symbol): anchor for anchor in reversed(anchors)}
        ordered = {key: by_place[key] for key in dict.fromkeys((anchor.path, anchor.symbol) for anchor in anchors)}
        if not self._subject.guessed or not any(anchor.symbol for anchor in anchors):
            return ordered
        sure = {*self._mentioned, *(path for path, _ in self._subject.edits)}
        return {key: anchor for key, anchor in ordered.items() if anchor.symbol or anchor.path in sure}

    def _look(self, path: str, names: Sequence[str] = (), lines: Lines | None = None) -> list[Anchor]:
        return _look_up(self._services, self._location, path, names, lines)

    @staticmethod
    def _definitions(anchors: Iterable[Anchor]) -> list[Anchor]:
        return [anchor for anchor in anchors if anchor.symbol]

    def _own_files(self, paths: Iterable[str], cwd: str = "") -> tuple[str, ...]:
        """Return those of the paths that are the project's own files, relative to its root."""
        workspace = self._services.workspace
        relative = [workspace.relative(self._location, path, cwd) for path in paths]
        own = [path for path in relative if path and not any(part in path + "/" for part in FOREIGN)]
        return tuple(path for path in dict.fromkeys(own) if workspace.blob(self._location, path))

    def _own_frames(self) -> list[Frame]:
        frames = []
        for frame in frames_in(self._subject.output):
            for path in self._own_files([frame.path]):
                frames.append(replace(frame, path=path, function=frame.function.rpartition(".")[2]))
        return frames


def lines_of(text: str, written: str) -> Lines | None:
    """Return the lines (from 1, the last included) of a text that contain what was written; None when it is ambiguous.

    A text that was changed again since is located by its longest line that occurs exactly once.
    """
    written = written.strip("\n")
    if written.strip() and text.count(written) == 1:
        first = text.count("\n", 0, text.index(written)) + 1
        return first, first + written.count("\n")
    telling = sorted({line.strip() for line in written.splitlines() if len(line.strip()) >= SHORTEST_LINE}, key=len)
    for line in reversed(telling):
        if text.count(line) == 1:
            at = text.count("\n", 0, text.index(line)) + 1
            return at, at
    return None


def _look_up(
    services: Services, location: Location, path: str, names: Sequence[str], lines: Lines | None
) -> list[Anchor]:
    """Return the code index's anchors; without an index the file's own; none when there is no such file."""
    index = services.codeindex()
    if index is not None:
        return [
            replace(a, commit=location.commit, branch=location.branch)
            for a in index.anchors(location, path, names, lines)
        ]
    blob = services.workspace.blob(location, path)
    return [Anchor(path=path, blob=blob, commit=location.commit, branch=location.branch)] if blob else []


def _means(name: str, symbol: str) -> bool:
    """Return whether a name that somebody gave stands for that qualified name."""
    wanted = name.replace("::", ".").removesuffix("()")
    return f".{symbol}".endswith(f".{wanted}") or f".{symbol.partition('#')[0]}".endswith(f".{wanted}")


def anchored_words(anchors: Sequence[Anchor]) -> str:
    """Describe what a lesson is anchored to: `Store.put in src/store.py`, `all of src/wal.py`; empty for nothing.

    A test is described as a test, because its title is a sentence from the repository.
    """
    return ", ".join(_anchor_words(anchor) for anchor in anchors if anchor.path)


def _anchor_words(anchor: Anchor) -> str:
    if not anchor.symbol or not (anchor.body_hash or anchor.signature_hash):
        return f"all of {anchor.path}"
    if anchor.symbol_kind == "test":
        return f"a test in {anchor.path}"
    return f"{anchor.symbol}{' (all of that name)' if anchor.symbol_kind == 'group' else ''} in {anchor.path}"


def _unnumbered(symbol: str) -> str:
    return symbol.partition("#")[0]


def _words(content: bytes) -> list[str]:
    return re.findall(r"[\w$]+", content.decode("utf-8", "replace"))


# The code at the time of a session's events: the work tree as it is while nothing was committed since, else a commit


class CodeThen:
    """Anchors subjects to the code of their time. It asks git once for each branch."""

    def __init__(self, services: Services, location: Location) -> None:
        self._services = services
        self._location = location
        self._branches = services.workspace.branches(location)
        self._history = services.workspace.history(location)
        self._lines: dict[str, Sequence[CommitPoint]] = {}

    def anchors(self, subject: Subject, behind: Sequence[Event], session: Iterable[Event] = ()) -> tuple[Anchor, ...]:
        """Return anchors to the subject in the code that the events saw; in the present code if there are no events.

        `session` are all events of their session. Where the code of that time is not known, the anchors say where the
        subject is now, without a fingerprint, so that they are unverified.
        """
        if not behind:
            return anchor_subject(self._services, self._location, subject)
        last = max(behind, key=lambda event: event.at)
        if self._is_present(last.at, last.branch, last.commit):
            return anchor_subject(self._services, self._location, subject)
        before, after = self._around(last)
        files = {*subject.files, *(path for path, _ in subject.edits)}
        edited = self._edited_since(before, last, session)
        order = (after, before) if files & edited else (before, after)
        return self._anchors_at([commit for commit in order if commit], subject, last.branch)

    def anchors_at(self, subject: Subject, at: datetime, commit: str = "") -> tuple[Anchor, ...]:
        """Return anchors to the subject in that commit, else in the newest one of what is checked out at that time."""
        if not commit and self._is_present(at):
            return anchor_subject(self._services, self._location, subject)
        commit = commit or self._on_branch("", at)[0]
        return self._anchors_at([commit] if commit else [], subject, "")

    def _anchors_at(self, commits: Sequence[str], subject: Subject, branch: str) -> tuple[Anchor, ...]:
        """Return anchors in the first of the commits that has a definition of the subject, else any part of it."""
        parts: tuple[Anchor, ...] = ()
        for commit in commits:
            there = replace(self._location, tree=commit, commit=commit, branch=branch)
            anchors = anchor_subject(self._services, there, subject)
            if any(anchor.symbol and anchor.body_hash for anchor in anchors):
                return anchors
            parts = parts or tuple(anchor for anchor in anchors if anchor.blob)
        if parts:
            return parts
        now = anchor_subject(self._services, self._location, subject)
        return tuple(Anchor(path=anchor.path, symbol=anchor.symbol, symbol_kind=anchor.symbol_kind) for anchor in now)

    def _is_present(self, at: datetime, branch: str = "", commit: str = "") -> bool:
        """Return whether nothing was committed here since that time, so that the work tree shows what was seen."""
        head = self._location.commit
        if not head:
            return self._services.clock.now() - at < timedelta(hours=PRESENT_H)
        is_here = commit == head if commit else branch in ("", self._location.branch)
        return is_here and self._was_made_before(head, at)

    def _was_made_before(self, commit: str, at: datetime) -> bool:
        made = self._branches.time(commit)
        return made is not None and made <= at

    def _around(self, event: Event) -> tuple[str, str]:
        """Return the commit that the event saw, and the next one; each is empty where it is not known."""
        if event.cwd and self._services.workspace.relative(self._location, event.cwd + "/.git"):
            before, after = self._branches.find_checked_out(event.at)
        else:
            before, after = "", ""
        if event.commit and self._was_made_before(event.commit, event.at):
            before, after = event.commit, after if before == event.commit else ""
        if before and self._branches.time(before) is None:
            before, after = "", ""  # git has dropped the commit
        if before and after:
            return before, after
        earlier, later = self._on_branch(event.branch, event.at)
        return before or earlier, after or later

    def _on_branch(self, branch: str, at: datetime) -> tuple[str, str]:
        """Return the commits before and after that time on the branch, else on the one merged from it, else on main."""
        for tip in self._tips(branch, at):
            points = self._line(tip)
            position = bisect_right([point.at for point in points], at)
            if position:
                return points[position - 1].id, points[position].id if position < len(points) else ""
        return "", ""

    def _tips(self, branch: str, at: datetime) -> Iterator[str]:
        """Yield the newest commits of the lines that may have been checked out then, the likeliest first."""
        if branch == self._location.branch or not branch:
            yield self._location.commit
        elif tip := self._branches.tip(branch):
            yield tip
        mains = list(self._branches.main_commits() or ())
        for main in [*mains, self._location.commit] if branch else ():
            merge = next(
                (point.id for point in self._line(main) if point.at > at and _merges(point.subject, branch)), ""
            )
            if merge and (tip := self._branches.resolve(f"{merge}^2")):
                yield tip
        yield from mains

    def _line(self, tip: str) -> Sequence[CommitPoint]:
        """Return the commits of a line along first parents, oldest first, in the order of their times."""
        if tip not in self._lines:
            self._lines[tip] = sorted(self._history.list_points("", tip) or (), key=lambda point: point.at)
        return self._lines[tip]

    def _edited_since(self, commit: str, last: Event, session: Iterable[Event]) -> set[str]:
        """Return the files that the session had edited by the event, after the commit was made."""
        made = self._branches.time(commit) if commit else None
        return {
            path
            for event in session
            if event.kind == "file_edit" and event.at <= last.at and (made is None or event.at > made)
            for path in event.files
        }


def _merges(subject: str, branch: str) -> bool:
    """Return whether a merge commit's subject names the branch as what it merged."""
    words = subject.replace("'", " ").split()
    return any(word in MERGED and branch in (name, name.partition("/")[2]) for word, name in pairwise(words))
