"""The state that Holdfast stores about its own work: one family a fact, each with an owner and an expiry.

Family names are part of the format on disk. The owner's id distinguishes the values of one family.
"""

from __future__ import annotations

from holdfast.errors import InvalidValueError
from holdfast.lean.records import Frozen
from holdfast.lean.texts import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Owner = Literal[
        "store", "project", "session", "work tree", "embedder", "file", "folder", "repository", "id", "lesson"
    ]

SESSION_DAYS = 365
"""How long what was noted of a session stays after it changed last: hosts let sessions of months ago go on."""


class StateFamily(Frozen):
    """Values with the same meaning, one for each owner."""

    name: str
    owner: Owner
    """What a value belongs to; a value of the store itself has an empty owner id."""
    value: str
    """The meaning of a value."""
    kept_days: int = 0
    """Days after its last change on which a value expires; 0: it does not, see `stays`."""
    stays: str = ""
    """Why a value has no expiry."""
    names_lessons: bool = False
    """A value may name lessons: purging a lesson removes it with `without_lesson`."""
    holds_words: bool = False
    """A value holds words of sessions: purging a lesson erases them with `text.purging.Purging.moments`."""


_ONE = "one value"
_BOUNDED = "one value a project, bounded"
_IDENTITY = "an id that was once given to a repository or folder stays with it"

LEARNED_POSITION = StateFamily(
    name="learned_position", owner="store", stays=_ONE,
    value="position up to which every event was learnt from",
)  # fmt: skip
LEARNING_BEGUN = StateFamily(
    name="learning_begun", owner="store", stays=_ONE,
    value="session that is being learnt from, and the attempt",
)  # fmt: skip
LEARNING_SET_ASIDE = StateFamily(
    name="learning_set_aside", owner="store", stays="one value, bounded",
    value="sessions that are not learnt from any more, a line each",
)  # fmt: skip
BARREN_SESSIONS = StateFamily(
    name="barren_sessions", owner="project", stays="one value a project, bounded",
    value="sessions with real work since the last one that taught a lesson, in order",
)  # fmt: skip
DECIDED = StateFamily(
    name="learned", owner="session", kept_days=SESSION_DAYS,
    value="digests of what was decided on in the session, with spans",
)  # fmt: skip
LEARNING_MOMENTS = StateFamily(
    name="learning_moments", owner="lesson", stays="as long as its lesson: purging erases it", holds_words=True,
    value="JSON: a request, a file, a command or a search beside which the lesson was learnt, three at most",
)  # fmt: skip
COMMAND_COUNTS = StateFamily(
    name="commands", owner="project", stays=_BOUNDED,
    value="JSON: how often commands were run, by digests of lines and sessions",
)  # fmt: skip
COMMITS_READ = StateFamily(
    name="git_history/1", owner="project", stays=_BOUNDED,
    value="newest commit read, how many were, and whether the user wrote one; the name ends in the reader's version",
)  # fmt: skip
OUTCOMES_POSITION = StateFamily(
    name="outcomes_position", owner="store", stays=_ONE,
    value="position up to which every event belongs to a session that was judged or is open",
)  # fmt: skip
OUTCOMES_OPEN = StateFamily(
    name="outcomes_open", owner="store", stays="one value, bounded",
    value="JSON: sessions that are not over, or whose deliveries cannot be judged yet",
)  # fmt: skip
OUTCOME_WEIGHTS = StateFamily(
    name="outcome_weights", owner="project", stays=_BOUNDED, names_lessons=True,
    value="JSON: by lesson, its factor in the order and in how many sessions it was needed, by outcomes",
)  # fmt: skip
SESSIONS_OPEN = StateFamily(
    name="sessions_open", owner="store", stays="one value, bounded",
    value="JSON: sessions that may go on and are not queued for a model yet, since when, and the last position read",
)  # fmt: skip
LEARNING_TROUBLE = StateFamily(
    name="learning_trouble", owner="store", stays=_ONE,
    value="why the user's model could not be asked for several sessions in a row, in one line",
)  # fmt: skip
BRIEF = StateFamily(
    name="brief", owner="work tree", kept_days=SESSION_DAYS, names_lessons=True,
    value="JSON: the lines that a session's start may tell, when they were collected, and the person who works here",
)  # fmt: skip
TIDY_PROPOSAL = StateFamily(
    name="tidy", owner="project", stays=_BOUNDED, names_lessons=True,
    value="version and JSON: the proposal by which the memory becomes smaller, until it is applied",
)  # fmt: skip
TIDYING = StateFamily(
    name="tidying", owner="project", stays=_BOUNDED,
    value="JSON: when the memory was tidied or a tidying taken back, and how many lessons were living then",
)  # fmt: skip
CLOSED_PROJECTS = StateFamily(
    name="closed_projects", owner="store", stays="a person's decision",
    value="JSON: projects whose lessons others do not see",
)  # fmt: skip
PROJECT_NAME = StateFamily(
    name="project_name", owner="project", stays=_BOUNDED,
    value="what people call the project",
)  # fmt: skip
LESSONS_CHANGED = StateFamily(
    name="lessons_changed", owner="store", stays=_ONE,
    value="`yes`: lessons changed since an embedder looked for those without a vector",
)  # fmt: skip
STAGED_SEEN = StateFamily(
    name="staged", owner="project", stays=_BOUNDED, names_lessons=True,
    value="a line for each checkout: the staged lessons seen there; `none`: no lesson is staged",
)  # fmt: skip
STAGED_SETTLED = StateFamily(
    name="staged_settled", owner="project", stays=_BOUNDED,
    value="digest of what was looked at when staged lessons were settled last",
)  # fmt: skip
LESSON_STATES = StateFamily(
    name="states", owner="work tree", kept_days=SESSION_DAYS, names_lessons=True,
    value="JSON: lessons that are not fresh, since when, and who saw it",
)  # fmt: skip
ASKED = StateFamily(
    name="asked", owner="session", kept_days=SESSION_DAYS,
    value="`yes`: the agent was asked what the session taught",
)  # fmt: skip
RULES_READ = StateFamily(
    name="rules_read", owner="session", kept_days=SESSION_DAYS,
    value="rules files that the host has given to the agent, a path a line",
)  # fmt: skip
EMBEDDER_COVERING = StateFamily(
    name="embedder_covering", owner="store", stays=_ONE,
    value="id of the embedder that every lesson had a vector of",
)  # fmt: skip
EMBEDDER_FAILED = StateFamily(
    name="embedder_failed", owner="store", stays=_ONE,
    value="when embedding lessons failed last, and why",
)  # fmt: skip
EMBEDDER_RESTING = StateFamily(
    name="embedder_resting", owner="embedder", kept_days=7,
    value="when it failed a question, and why",
)  # fmt: skip
RULES_HOSTS = StateFamily(
    name="rules-hosts", owner="work tree", stays="a person's decision",
    value="hosts that rules files were asked for, a line each; ` waits` behind one that nothing is written for",
)  # fmt: skip
AUDIT_DIARY = StateFamily(
    name="audit", owner="project", kept_days=120, names_lessons=True,
    value="JSON: decisions of the day, and until when lessons are not shown, 90 days at most",
)  # fmt: skip
SYNCED = StateFamily(
    name="sharing", owner="project", stays="a purged lesson's id tells that its file is not to be taken in again",
    value="JSON: digests of lessons and files as they were synced last",
)  # fmt: skip
TRANSCRIPT_READ = StateFamily(
    name="backfill", owner="file", stays="a transcript that is read again would be learnt from again",
    value="inode, position and size up to which a transcript was read and learnt from",
)  # fmt: skip
BACKFILLED_ROOTS = StateFamily(
    name="backfill_roots", owner="store", stays="one value, bounded",
    value="work trees of earlier runs of backfill, a line each",
)  # fmt: skip
TIDIED = StateFamily(
    name="tidied", owner="store", stays=_ONE,
    value="day on which old texts were looked for last",
)  # fmt: skip
PLACE = StateFamily(
    name="place", owner="folder", stays=_IDENTITY,
    value="id, name, remote, root commit, URL as written, device:inode (and `description`'s time), a line each",
)  # fmt: skip
CLONE = StateFamily(
    name="git", owner="repository", stays=_IDENTITY,
    value="id, of a remote and a root commit",
)  # fmt: skip
REMOTE = StateFamily(
    name="remote", owner="repository", stays=_IDENTITY,
    value="id, and root commit (empty: seen in a shallow clone only)",
)  # fmt: skip
ROOT_COMMIT = StateFamily(
    name="root", owner="repository", stays=_IDENTITY,
    value="id and folder of a repository without a remote, by its root commit",
)  # fmt: skip
INODE = StateFamily(
    name="inode", owner="folder", stays=_IDENTITY,
    value="id, folder and time of birth, by device:inode (a freed number is soon another folder's)",
)  # fmt: skip
DECLARED = StateFamily(
    name="declared", owner="id", stays="who declared an id first owns it",
    value="repositories in which a declared id counts, a line each: remote, root commit, certificate",
)  # fmt: skip
CLAIM = StateFamily(
    name="claim", owner="folder", stays="a claim is reported once",
    value="the declared id that was refused there, and what that rests on",
)  # fmt: skip

FAMILIES = (
    ASKED, BARREN_SESSIONS, TIDY_PROPOSAL, TIDYING, LEARNED_POSITION, LEARNING_BEGUN, LEARNING_SET_ASIDE, DECIDED,
    LEARNING_MOMENTS, COMMAND_COUNTS, COMMITS_READ,
    OUTCOMES_POSITION, OUTCOMES_OPEN, OUTCOME_WEIGHTS, SESSIONS_OPEN, LEARNING_TROUBLE, BRIEF, CLOSED_PROJECTS,
    PROJECT_NAME, LESSONS_CHANGED,
    STAGED_SEEN, STAGED_SETTLED, LESSON_STATES, RULES_READ, EMBEDDER_COVERING, EMBEDDER_FAILED,
    EMBEDDER_RESTING, RULES_HOSTS, AUDIT_DIARY, SYNCED, TRANSCRIPT_READ, BACKFILLED_ROOTS, TIDIED, PLACE, CLONE,
    REMOTE, ROOT_COMMIT, INODE, DECLARED, CLAIM,
)  # fmt: skip


def without_lesson(value: str, lesson: str) -> str:
    """Return the value without the entries of the lesson: entries keyed by its id, and records with the id in a field.

    A value that names the lesson but is not JSON becomes empty, so that it is computed again.
    """
    if not lesson or lesson not in value:
        return value
    try:
        plain = loads(value)
    except InvalidValueError:
        return ""
    return dumps(_without(plain, lesson))


def _without(plain: Any, lesson: str) -> Any:
    if isinstance(plain, dict):
        return {key: _without(item, lesson) for key, item in plain.items() if key != lesson}
    if isinstance(plain, list):
        return [_without(item, lesson) for item in plain if not _is_about(item, lesson)]
    return plain


def _is_about(item: Any, lesson: str) -> bool:
    return item == lesson or (isinstance(item, dict) and lesson in item.values())
