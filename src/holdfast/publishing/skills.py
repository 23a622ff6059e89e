"""Skills: recurring procedural lessons, compiled into Agent Skills (agentskills.io), one SKILL.md a subject.

A subject is a command, else a file, else a folder. It recurs if two lessons are about it and come from two sessions, or
if one lesson was met in three sessions. Only active lessons of the project that still match the code are written; they
are redacted and never address the agent. The same memory gives the same text at any time.
"""

from __future__ import annotations

from hashlib import sha256
from math import inf

from holdfast.domain.kinds import KIND_PROFILES, profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Outcome
from holdfast.freshness.check import FreshnessCheck, worst
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.lean.records import Frozen
from holdfast.lean.texts import dumps, short_id
from holdfast.lessons.staged import seen_here
from holdfast.ports.store import LessonFilter
from holdfast.publishing.publication import Withheld, is_public, outcomes_of, publishable, reason_against, standing_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.services import Services

KINDS = tuple(kind for kind, profile in KIND_PROFILES.items() if profile.skill_order)
"""Kinds of lessons that say how to do something."""
SESSIONS, SESSIONS_ALONE = 2, 3
"""Sessions behind a subject of several lessons, and behind one of a single lesson."""
LESSONS_MOST = 20
"""Most lessons of one skill, those met in most sessions: a skill is read whole."""
NAME_LIMIT, DESCRIPTION_LIMIT = 64, 1024
"""Characters the format allows."""
PLACES_SHOWN = 5
"""Files, and errors, that a skill names as its occasions."""
MARK = "<!-- holdfast:skill "


class Skill(Frozen):
    """One complete SKILL.md."""

    name: str
    """Lower-case letters, digits and hyphens, at most 64; also its folder's name."""
    description: str
    text: str
    lessons: tuple[LessonId, ...]
    sessions: int
    """How many sessions support it."""


class Skills(Frozen):
    """The skills of a project's lessons."""

    skills: tuple[Skill, ...] = ()
    withheld: tuple[Withheld, ...] = ()


class _Met(Frozen):
    """A lesson, the sessions that confirmed it, and where its code is now."""

    lesson: Lesson
    sessions: frozenset[str]
    paths: tuple[str, ...]
    caveat: str = ""


class _Subject(Frozen):
    """What a skill is about."""

    kind: str
    """`command`, `file` or `folder`."""
    key: str
    met: tuple[_Met, ...]

    @property
    def sessions(self) -> int:
        """How many sessions support it."""
        return len({session for entry in self.met for session in entry.sessions})


def compile_skills(services: Services, location: Location) -> Skills:
    """Return the project's skills by name, checked against the current code."""
    where = LessonFilter(project=location.project.id, states=("active",), kinds=KINDS, limit=EVERY_LESSON)
    seen = seen_here(services, location)
    lessons = [lesson for lesson in services.store.find(where) if is_public(lesson, location, seen)]
    outcomes = outcomes_of(services, location)
    check = FreshnessCheck(services, location, within_s=inf)
    met, withheld = [], []
    for lesson in sorted(lessons, key=lambda lesson: (lesson.validity.valid_from, lesson.id)):
        anchor_verdicts, became = check.anchor_verdicts(lesson), outcomes.get(lesson.id, [])
        verdicts = [verdict for _, verdict in anchor_verdicts]
        reason = reason_against(lesson, verdicts, standing_in(services, lesson, became))
        if reason:
            withheld.append(Withheld(lesson=lesson, reason=reason))
        else:
            paths = tuple(dict.fromkeys(verdict.anchor.path for _, verdict in anchor_verdicts))
            met.append(
                _Met(lesson=lesson, sessions=_sessions(lesson, became), paths=paths, caveat=worst(anchor_verdicts)[1])
            )
    names: set[str] = set()
    skills = [_skill(subject, names, location) for subject in _subjects(met)]
    return Skills(skills=tuple(sorted(skills, key=lambda skill: skill.name)), withheld=tuple(withheld))


def is_unedited(text: str, location: Location) -> bool:
    """Return whether a SKILL.md was compiled from this project's lessons and not changed since."""
    body, _, mark = text.replace("\r\n", "\n").rpartition(MARK)
    lessons = mark.partition(" lessons=")[2].partition(" ")[0]
    return f"{MARK}{mark}" == _mark(location, lessons, body)


def _sessions(lesson: Lesson, outcomes: Sequence[Outcome]) -> frozenset[str]:
    """Return the sessions in which it was seen, heeded or helped; a person's statement without one counts as one."""
    borne_out = (
        outcome.session for outcome in outcomes if outcome.verdict in ("heeded", "helped") and not outcome.withheld
    )
    seen = frozenset(filter(None, (*lesson.sessions_seen, lesson.provenance.session, *borne_out)))
    return seen or frozenset([lesson.id])


def _subjects(met: Sequence[_Met]) -> Iterator[_Subject]:
    """Yield subjects that recur: commands first, then files, then folders; a lesson is in at most one."""
    taken: set[LessonId] = set()
    for kind, keys in _KEYS.items():
        by_key: dict[str, list[_Met]] = {}
        for entry in met:
            for key in keys(entry) if entry.lesson.id not in taken else ():
                by_key.setdefault(key, []).append(entry)
        for key in sorted(by_key, key=lambda key: (-len(by_key[key]), key)):
            left = tuple(entry for entry in by_key[key] if entry.lesson.id not in taken)
            subject = _Subject(kind=kind, key=key, met=left)
            if _recurs(subject):
                yield subject
                taken.update(entry.lesson.id for entry in left)


def _recurs(subject: _Subject) -> bool:
    return subject.sessions >= (SESSIONS if len(subject.met) > 1 else SESSIONS_ALONE)


def _command_keys(entry: _Met) -> tuple[str, ...]:
    """Return the program and its sub-command, without targets."""
    words = entry.lesson.command.split()
    names = [word for word in words[:2] if word.replace("-", "").replace("_", "").isalnum()]
    return (" ".join(names),) if names and names[0] == words[0] else tuple(words[:1])


def _folder_keys(entry: _Met) -> tuple[str, ...]:
    folders = (path.rpartition("/")[0] for path in entry.paths)
    return tuple(dict.fromkeys(filter(None, folders)))


_KEYS: dict[str, Callable[[_Met], tuple[str, ...]]] = {
    "command": _command_keys,
    "file": lambda lesson: lesson.paths,
    "folder": _folder_keys,
}
_VERBS = {"command": "Running", "file": "Working on", "folder": "Working in"}


def _skill(subject: _Subject, names: set[str], location: Location) -> Skill:
    most = sorted(subject.met, key=lambda entry: -len(entry.sessions))[:LESSONS_MOST]
    met = sorted(most, key=lambda entry: profile_of(entry.lesson.kind).skill_order)
    subject = _Subject(kind=subject.kind, key=subject.key, met=tuple(met))
    name = _name(subject, names)
    description = _description(subject)
    front = ["---", f"name: {name}", f"description: {dumps(description)}", "---", ""]
    body = "\n".join([*front, *_body(subject), "", ""])
    ids = ",".join(short_id(entry.lesson.id) for entry in met)
    return Skill(
        name=name,
        description=description,
        text=body + _mark(location, ids, body),
        lessons=tuple(entry.lesson.id for entry in met),
        sessions=subject.sessions,
    )


def _name(subject: _Subject, names: set[str]) -> str:
    """Return a name such as `running-pytest`; a number makes it unique, and a cut name gets a digest."""
    plain = f"{_VERBS[subject.kind]} {subject.key}".lower()
    spelled = "".join(c if c.isascii() and c.isalnum() else "-" for c in plain)
    name = "-".join(filter(None, spelled.split("-")))
    if len(name) > NAME_LIMIT - 3 or not subject.key.isascii():
        name = f"{name[: NAME_LIMIT - 12].rstrip('-')}-{_digest(subject.key)[:8]}"
    free = next(
        candidate for candidate in (name, *(f"{name}-{n}" for n in range(2, len(names) + 3))) if candidate not in names
    )
    names.add(free)
    return free


def _description(subject: _Subject) -> str:
    """Return what it contains and when to use it, in at most 1,024 characters and without tags."""
    when = "; ".join(line[0].lower() + line[1:].rstrip(".") for line in _when(subject))
    titles = [publishable(entry.lesson.title).rstrip(".…") for entry in subject.met]
    what = f"What earlier sessions on this code learnt: {'; '.join(titles)}."
    use = _cut(f" Use {when}.", DESCRIPTION_LIMIT // 2)
    text = _cut(what, DESCRIPTION_LIMIT - len(use)) + use
    return text.translate(_UNTAGGED)


_UNTAGGED = str.maketrans("", "", "<>`")


def _body(subject: _Subject) -> Iterator[str]:
    yield f"# {_VERBS[subject.kind]} {_code(subject.key)}"
    yield ""
    yield "Recorded in earlier sessions on this code, quoted as notes; `holdfast show ID` tells where one comes from."
    yield from ("", "## When to use", "")
    yield from (f"- {line}" for line in _when(subject))
    steps = [entry for entry in subject.met if not profile_of(entry.lesson.kind).is_pitfall]
    pitfalls = [entry for entry in subject.met if profile_of(entry.lesson.kind).is_pitfall]
    if steps:
        yield from ("", "## Steps", "")
        yield from (f"{number}. {_line(entry)}" for number, entry in enumerate(steps, start=1))
    if pitfalls:
        yield from ("", "## Pitfalls", "")
        yield from (f"- {_line(entry)}" for entry in pitfalls)


def _when(subject: _Subject) -> list[str]:
    """Return the occasions, a line each."""
    paths = list(dict.fromkeys(path for entry in subject.met for path in entry.paths))[:PLACES_SHOWN]
    errors = dict.fromkeys(entry.lesson.error_signature for entry in subject.met if entry.lesson.error_signature)
    head = {"command": "Before running", "file": "Before changing", "folder": "Before changing files in"}
    lines = [f"{head[subject.kind]} {_code(subject.key)}."]
    lines += [f"Before changing {_code(path)}." for path in paths if path != subject.key]
    return lines + [f"When something fails with {_code(error)}." for error in list(errors)[:PLACES_SHOWN]]


def _line(entry: _Met) -> str:
    """Return the lesson as one line: `Rule. Why. How. (caveat) [id]`."""
    lesson = entry.lesson
    sentences = [text if text[-1] in ".!?…" else f"{text}." for text in map(publishable, _parts(lesson)) if text]
    notes = f" ({publishable(entry.caveat)})" if entry.caveat else ""
    return f"{' '.join(sentences)}{notes} [{short_id(lesson.id)}]"


def _parts(lesson: Lesson) -> tuple[str, ...]:
    return lesson.insight, lesson.why, lesson.how


def _code(text: str) -> str:
    return f"`{publishable(text).replace('`', chr(39))}`"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 2].rsplit(" ", 1)[0].rstrip(";,") + "…."


def _mark(location: Location, lessons: str, body: str) -> str:
    """Return the last line: the lessons, and a digest of the text before it as it was written."""
    return f"{MARK}project={_digest(location.project.id)[:12]} lessons={lessons} sha256={_digest(body)} -->\n"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()
