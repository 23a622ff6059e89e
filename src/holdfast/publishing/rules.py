"""Compiles rules files for hosts: which lessons they contain, in which file, and in which form.

They contain active lessons of the project that match the current code; drifted ones are left out. A lesson about one
folder goes to a file for that folder if the host supports paths; all others go to a block or file that is always read,
each within a budget. A host reads a lesson in only one file, and never besides the file it was imported from. The same
memory and code give the same text at any time: nothing depends on the clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256
from math import inf
from typing import Any

from holdfast.domain.kinds import KIND_PROFILES, profile_of
from holdfast.domain.lesson import INSIGHT_LIMIT, Lesson
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import LessonId
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.lean.texts import dumps, short_id
from holdfast.lessons.staging import seen_here
from holdfast.outcomes.standing import Standing
from holdfast.ports.host import RulesTarget
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.publishing.publication import (
    Withheld,
    is_public,
    outcomes_of,
    publishable,
    reason_against,
    standing_in,
    unreferring,
)
from holdfast.ranking.fuse import multipliers
from holdfast.rendering.lines import CLOSING, INTRODUCTION, OPENING, compile_line, count_tokens, safe_title
from holdfast.rendering.verdicts import verdict_words
from holdfast.text.occasions import CARDS, is_standing

Group = tuple[str, tuple[int, ...]]

KINDS = tuple(kind for kind, profile in KIND_PROFILES.items() if profile.rules_order)
"""Kinds of lessons that are rules for whoever works here."""
ALWAYS_TOKENS, SCOPED_TOKENS = 2_300, 600
"""Most tokens of a text that is always read, and of a file for one folder."""
SCOPES_MOST = 10
"""Most files for one folder each, for one host."""
MARK = "<!-- holdfast:begin rules (kept by holdfast; edits here are lost) -->"
"""The first line after the front matter of a file of ours; importers ignore what follows it."""
SLUG_LIMIT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    """Where the rules of one host go."""

    host: str
    target: RulesTarget
    """The target, with links in its file's name resolved."""
    reads: tuple[str, ...]
    """All files with rules that the host reads; `*` for any name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Most tokens of a text that is always read, and of a file for one folder."""

    always: int = ALWAYS_TOKENS
    scoped: int = SCOPED_TOKENS


DEFAULT = Budget()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesFile:
    """One file: completely ours, or the block of ours in it."""

    file: str
    """Relative to the project's root, with forward slashes."""
    text: str
    whole: bool
    lessons: tuple[LessonId, ...]
    tokens: int
    hosts: tuple[str, ...] = ()
    """The hosts that read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The contents of the project's rules files."""

    files: tuple[RulesFile, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    """Lessons that must not be written, and why."""
    unfit: tuple[LessonId, ...] = ()
    """Lessons that did not fit into any file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A lesson as a line."""

    lesson: Lesson
    line: str
    tokens: int
    title: str
    """Its line where there is no room for its full words."""
    folder: str
    """The deepest folder that contains all its files; empty for the root, and if it is about no file."""


def compile_rules(
    services: Services, location: Location, outlets: Sequence[Outlet], budget: Budget = DEFAULT, own: bool = False
) -> Rules:
    """Return the rules files of those hosts, by name; with `own` also the user's lessons for all projects.

    Private lessons are never included. Lessons are chosen by worth: pinned first, then by more help than harm, by more
    sessions, by trust, confidence and salience, and newer ones first.
    """
    entries, withheld = _entries(services, location, own)
    sharing: dict[str, list[Outlet]] = {}
    for outlet in outlets:
        sharing.setdefault(outlet.target.file, []).append(outlet)
    files: list[RulesFile] = []
    for name in sorted(
        sharing, key=lambda name: ("{slug}" in name, name)
    ):  # plain blocks first; files with a slug get what those leave out
        untold = [entry for entry in entries if not _is_told(entry, sharing[name], files)]
        write = _whole_files if "{slug}" in name else _block
        files += write(sharing[name], untold, budget)
    written = {lesson for file in files for lesson in file.lessons}
    new = (
        entry.lesson.id for entry in entries if not all(_is_told(entry, readers, ()) for readers in sharing.values())
    )
    return Rules(
        files=tuple(_with_readers(file, outlets) for file in sorted(files, key=lambda file: file.file)),
        withheld=tuple(withheld),
        unfit=tuple(lesson for lesson in new if lesson not in written),
    )


def is_read(file: str, reads: Iterable[str]) -> bool:
    """Return whether a host that reads those files reads that one; `{slug}` stands for any name."""
    name = file.replace("{slug}", "always")
    return any(fnmatchcase(name, pattern) for pattern in reads)


def _with_readers(file: RulesFile, outlets: Iterable[Outlet]) -> RulesFile:
    return replace(file, hosts=tuple(sorted(outlet.host for outlet in outlets if is_read(file.file, outlet.reads))))


def _entries(services: Services, location: Location, own: bool) -> tuple[list[_Entry], list[Withheld]]:
    """Return the lessons that may be written, best first, and those that must not."""
    where = LessonFilter(project=location.project.id, states=("active",), kinds=KINDS, limit=EVERY_LESSON)
    now, seen = services.clock.now(), seen_here(services, location)
    lessons = [
        lesson
        for lesson in services.store.find(where)
        if (is_public(lesson, location, seen) or (own and lesson.scope.level == "user" and not lesson.private))
        and lesson.validity.valid_from <= now
        and (lesson.validity.valid_to is None or now < lesson.validity.valid_to)
    ]
    outcomes = outcomes_of(services, location)
    standings = {lesson.id: standing_in(services, lesson, outcomes.get(lesson.id, ())) for lesson in lessons}
    check = FreshnessCheck(services, location, within_s=inf)
    entries, withheld = [], []
    for lesson in sorted(lessons, key=lambda lesson: _worth(lesson, standings[lesson.id]), reverse=True):
        verdicts = [verdict for _, verdict in check.anchor_verdicts(lesson)]
        reason = reason_against(lesson, verdicts, standings[lesson.id]) or _doubt(lesson, verdicts)
        if reason:
            withheld.append(Withheld(lesson=lesson, reason=reason))
        else:
            entries.append(_entry(lesson, verdicts))
    return entries, withheld


def _doubt(lesson: Lesson, verdicts: Sequence[Verdict]) -> str:
    """Return why a lesson is no rule: its code could not be compared, or it has no text."""
    unsure = next((verdict for verdict in verdicts if verdict.freshness == "unverified"), None)
    if unsure:
        return verdict_words(unsure) or f"{unsure.anchor.path}: not verified"
    return "" if publishable(lesson.insight) else "it has no words"


def _worth(lesson: Lesson, standing: Standing) -> tuple[Any, ...]:
    known = dict(multipliers(lesson, "fresh", lesson.recorded_at))
    learnt = known["trust"] * known["confidence"] * known["salience"]
    return (
        lesson.pinned,
        standing.credit - standing.harm,
        len(lesson.sessions_seen),
        learnt,
        lesson.validity.valid_from,
        lesson.id,
    )


def _entry(lesson: Lesson, verdicts: Sequence[Verdict]) -> _Entry:
    """Return the lesson's line, with moved code named by its new place."""
    anchors = tuple(verdict.anchor for verdict in verdicts)
    shown = replace(
        lesson,
        insight=publishable(lesson.insight)[:INSIGHT_LIMIT],
        why=publishable(lesson.why),
        how=publishable(lesson.how),
        anchors=tuple(replace(a, path=publishable(a.path), symbol=publishable(a.symbol)) for a in anchors),
        globs=tuple(map(publishable, lesson.globs)),
    )
    line = unreferring(compile_line(shown).text)
    places = [anchor.path.rpartition("/")[0] for anchor in anchors] + [_fixed_part(glob) for glob in lesson.globs]
    folder = common_folder(places) if places else lesson.scope.path_prefix.strip("/")
    title = line
    if not (lesson.pinned or is_standing(lesson) or lesson.topic_key.startswith(CARDS)):
        title = f"- {publishable(safe_title(lesson))} [{short_id(lesson.id)}]"
    return _Entry(lesson=lesson, line=line, tokens=count_tokens(line), title=title, folder=folder)


def _fixed_part(glob: str) -> str:
    """Return the folder that contains all of a pattern's files: `src/db` for `src/db/**/*.sql`."""
    names = glob.split("/")[:-1]
    wild = (at for at, name in enumerate(names) if any(mark in name for mark in "*?[{"))
    return "/".join(names[: next(wild, len(names))])


def _is_told(entry: _Entry, sharing: Sequence[Outlet], files: Sequence[RulesFile]) -> bool:
    """Return whether each of the hosts reads the lesson elsewhere: in a file of ours, or where it was imported from."""
    origin = entry.lesson.provenance.origin.partition("#")[0].replace("%23", "#")
    if origin and any(is_read(origin, outlet.reads) for outlet in sharing):
        return True
    names = [file.file for file in files if entry.lesson.id in file.lessons]
    return all(any(is_read(name, outlet.reads) for name in names) for outlet in sharing)


def _block(sharing: Sequence[Outlet], entries: Sequence[_Entry], budget: Budget) -> Iterator[RulesFile]:
    target = sharing[0].target
    taken = _fit(entries, budget.always - _FRAME_TOKENS)
    if taken:
        text = _text("## Notes from earlier sessions", taken)
        yield _rules_file(target.file, text, taken)


def _whole_files(sharing: Sequence[Outlet], entries: Sequence[_Entry], budget: Budget) -> Iterator[RulesFile]:
    """Yield the file that is always read, and one for each folder if the host supports paths."""
    target, room = sharing[0].target, budget.scoped - _FRAME_TOKENS
    groups = []
    if "{globs}" in target.front_matter:
        groups = group_folders(
            [entry.folder for entry in entries], [entry.tokens for entry in entries], SCOPES_MOST, room
        )
    grouped = {at for _, members in groups for at in members}
    rest = [entry for at, entry in enumerate(entries) if at not in grouped]
    slugs = _slugs([folder for folder, _ in groups])
    scopes = [("", "always", rest, budget.always - _FRAME_TOKENS)]
    scopes += [(folder, slugs[folder], [entries[at] for at in members], room) for folder, members in groups]
    for folder, slug, members, tokens in scopes:
        head = _front_matter(target, folder)
        taken = _fit(members, tokens, target.limit_chars - len(head) - _FRAME_CHARS if target.limit_chars else 0)
        if taken:
            title = "# Notes from earlier sessions" + (f" on {_plain(folder)}" if folder else "")
            text = f"{head}{MARK}\n{_text(title, taken)}\n<!-- holdfast:end -->\n"
            yield _rules_file(target.file.replace("{slug}", slug), text, taken, whole=True)


def _rules_file(name: str, text: str, taken: Sequence[_Entry], whole: bool = False) -> RulesFile:
    return RulesFile(
        file=name,
        text=text,
        whole=whole,
        lessons=tuple(entry.lesson.id for entry in taken),
        tokens=count_tokens(text),
    )


def _fit(entries: Sequence[_Entry], tokens: int, chars: int = 0) -> list[_Entry]:
    """Return the best entries that fit, in the order in which they are written: by kind, older first.

    If not all fit in full words, what is no standing rule is told by its title.
    """
    if sum(entry.tokens for entry in entries) > tokens or (chars and sum(len(e.line) + 1 for e in entries) > chars):
        entries = [replace(entry, line=entry.title, tokens=count_tokens(entry.title)) for entry in entries]
    taken, spent, length = [], 0, 0
    for entry in entries:
        longer = length + len(entry.line) + 1
        if spent + entry.tokens <= tokens and (not chars or longer <= chars):
            taken.append(entry)
            spent, length = spent + entry.tokens, longer
    return sorted(taken, key=lambda entry: (profile_of(entry.lesson.kind).rules_order, entry.lesson.id))


def _text(title: str, taken: Sequence[_Entry]) -> str:
    """Return the lessons, fenced and attributed; blank lines make Markdown show them as a list."""
    lines = [entry.line for entry in taken]
    return "\n".join([title, "", OPENING, "", f"{INTRODUCTION} {_MORE}", "", *lines, "", CLOSING])


_MORE = "`holdfast show ID` tells where one comes from."
_FRAME_TOKENS = count_tokens(_text(f"{MARK}# Notes from earlier sessions on a folder", ())) + 40
_FRAME_CHARS = len(_text(MARK, ())) + 200
"""Tokens and characters of a file besides its lessons and its front matter, with room for a folder's name."""


def _front_matter(target: RulesTarget, folder: str) -> str:
    """Return the target's front matter for the folder, or for the file that is always read."""
    plain = _plain(folder)
    described = "Notes from earlier sessions" + (f" on {plain}" if folder else "")
    globs = dumps([f"{plain}/**"]) if target.globs == "list" else f"{plain}/**"
    template = target.front_matter if folder else target.always
    return template.replace("{description}", described).replace("{globs}", globs)


def _plain(folder: str) -> str:
    """Return the folder in a form that every host's globs and front matter accept: special characters become `?`."""
    plain = "".join(c if c.isalnum() or c in "_-./+~ " else "?" for c in folder)
    return plain if plain[:1].isalnum() or plain[:1] in "._" else "?" + plain[1:]


def _slugs(folders: Sequence[str]) -> dict[str, str]:
    """Return a part of the file name for each folder: `src-app`, with a digest unless it is plain and unique."""
    plain = {
        folder: "".join(c if c.isascii() and (c.isalnum() or c in "_.") else "-" for c in folder.lower())
        for folder in folders
    }
    slugs = {folder: "-".join(filter(None, text.split("-"))) for folder, text in plain.items()}
    shared = list(slugs.values())
    return {
        folder: slug
        if folder.isascii() and shared.count(slug) == 1 and slug != "always" and len(slug) <= SLUG_LIMIT
        else f"{slug[:SLUG_LIMIT]}-{sha256(folder.encode('utf-8', 'replace')).hexdigest()[:8]}".lstrip("-")
        for folder, slug in slugs.items()
    }


# Groups the folders of lessons, to decide which rules files with a scope of paths there are


def common_folder(folders: Iterable[str]) -> str:
    """Return the deepest folder that contains them all, with forward slashes; empty for the root."""
    common: list[str] | None = None
    for folder in folders:
        names = folder.split("/") if folder else []
        if common is None:
            common = names
        alike = (at for at, (name, other) in enumerate(zip(common, names, strict=False)) if name != other)
        common = common[: next(alike, min(len(common), len(names)))]
    return "/".join(common or ())


def group_folders(folders: Sequence[str], costs: Sequence[int], most: int, budget: int) -> list[Group]:
    """Return at most `most` folders, by name, each with the positions of its members in `folders`, without the root.

    There is one group a top folder, named by the deepest folder that contains all of it. A group that costs more than
    the budget is split by its sub-folders while there is room. If there are too many, those with most members stay.
    """
    groups = _parted("", [at for at, folder in enumerate(folders) if folder], folders)
    while parted := _part_dearest(groups, folders, costs, most, budget):
        groups = parted
    return sorted(sorted(groups, key=lambda group: (-len(group[1]), group[0]))[:most])


def _part_dearest(
    groups: list[Group], folders: Sequence[str], costs: Sequence[int], most: int, budget: int
) -> list[Group]:
    """Return the groups with the most expensive divisible one split; empty if there is none."""
    priced = sorted((-sum(costs[at] for at in members), name, members) for name, members in groups)
    for cost, name, members in priced:
        parts = _parted(name, members, folders)
        if -cost > budget and len(parts) > 1 and len(groups) - 1 + len(parts) <= most:
            return [group for group in groups if group[0] != name] + parts
    return []


def _parted(above: str, members: Iterable[int], folders: Sequence[str]) -> list[Group]:
    """Return the members by their folder below `above`; those in `above` itself are one group."""
    skipped = len(above) + 1 if above else 0
    inside_of: dict[str, list[int]] = {}
    for at in members:
        inside_of.setdefault(folders[at][skipped:].partition("/")[0], []).append(at)
    return [(common_folder(folders[at] for at in inside), tuple(inside)) for inside in inside_of.values()]
