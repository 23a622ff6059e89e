"""The state that Holdfast stores about its own work: one family a fact, each with an owner and an expiry.

Family names are part of the format on disk. The owner's id distinguishes the values of one family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads

Owner = Literal["store", "project", "session", "work tree", "embedder", "file", "folder", "repository", "id", "lesson"]

SESSION_DAYS = 365
"""How long what was noted of a session stays after it changed last: hosts let sessions of months ago go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFamily:
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
    """A value holds words of sessions: purging a lesson erases them with `stores._shared.purging.Purging.moments`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFamily:
    """Values of which one owner has many, each under a key. They do not expire."""

    name: str
    owner: str
    """What the values belong to."""
    key: str
    """What distinguishes the values of one owner."""
    value: str
    """The meaning of a value."""
    holds_words: bool = False
    """A value holds a lesson's rule: purging the lesson erases it."""


def _kept(
    name: str, owner: Owner, value: str, stays: str, *, names_lessons: bool = False, holds_words: bool = False
) -> StateFamily:
    return StateFamily(
        name=name, owner=owner, value=value, stays=stays, names_lessons=names_lessons, holds_words=holds_words
    )


def _expiring(
    name: str, owner: Owner, value: str, kept_days: int, *, names_lessons: bool = False, holds_words: bool = False
) -> StateFamily:
    return StateFamily(
        name=name, owner=owner, value=value, kept_days=kept_days, names_lessons=names_lessons, holds_words=holds_words
    )


_ONE = "one value"
_BOUNDED = "one value a project, bounded"
_IDENTITY = "an id that was once given to a repository or folder stays with it"
# fmt: off

LEARNED_POSITION = _kept("learned_position", "store", "position up to which every event was learnt from", _ONE)
LEARNING_BEGUN = _kept("learning_begun", "store", "session that is being learnt from, and the attempt", _ONE)
LEARNING_SET_ASIDE = _kept("learning_set_aside", "store", "sessions that are not learnt from any more, a line each",
    "one value, bounded")
BARREN_SESSIONS = _kept("barren_sessions", "project",
    "sessions with real work since the last one that taught a lesson, in order", "one value a project, bounded")
DECIDED = _expiring("learned", "session", "digests of what was decided on in the session, with spans", SESSION_DAYS)
LEARNING_MOMENTS = _kept("learning_moments", "lesson",
    "JSON: a request, a file, a command or a search beside which the lesson was learnt, three at most",
    "as long as its lesson: purging erases it", holds_words=True)
COMMAND_COUNTS = _kept("commands", "project", "JSON: how often commands were run, by digests of lines and sessions",
    _BOUNDED)
COMMITS_READ = _kept("git_history/1", "project",
    "newest commit read, how many were, and whether the user wrote one; the name ends in the reader's version",
    _BOUNDED)
OUTCOMES_POSITION = _kept("outcomes_position", "store",
    "position up to which every event belongs to a session that was judged or is open", _ONE)
OUTCOMES_OPEN = _kept("outcomes_open", "store",
    "JSON: sessions that are not over, or whose deliveries cannot be judged yet", "one value, bounded")
OUTCOME_WEIGHTS = _kept("outcome_weights", "project",
    "JSON: by lesson, its factor in the order and in how many sessions it was needed, by outcomes",
    _BOUNDED, names_lessons=True)
SESSIONS_OPEN = _kept("sessions_open", "store",
    "JSON: sessions that may go on and are not queued for a model yet, since when, and the last position read",
    "one value, bounded")
LEARNING_TROUBLE = _kept("learning_trouble", "store",
    "why the user's model could not be asked for several sessions in a row, in one line", _ONE)
THREADS = _expiring("threads", "project",
    "JSON: failures that sessions tried to mend, with their tries and cures, the newest", 60, holds_words=True)
OPEN_THREADS = _expiring("open_threads", "project",
    "JSON: those of the failures that no run has shown as mended and that a session's start may name, a few",
    14, holds_words=True)
BRIEF = _expiring("brief", "work tree",
    "JSON: the lines that a session's start may tell, when they were collected, and the person who works here",
    SESSION_DAYS, names_lessons=True)
TIDY_PROPOSAL = _kept("tidy", "project",
    "version and JSON: the proposal by which the memory becomes smaller, until it is applied",
    _BOUNDED, names_lessons=True)
TIDY_REFUSED = _kept("tidy_refused", "project",
    "JSON: digests of proposed steps that a person refused, the newest last, 2,000 at most", _BOUNDED)
TIDYING = _kept("tidying", "project",
    "JSON: when the memory was tidied or a tidying taken back, and how many lessons were living then", _BOUNDED)
CLOSED_PROJECTS = _kept("closed_projects", "store", "JSON: projects whose lessons others do not see",
    "a person's decision")
PROJECT_NAME = _kept("project_name", "project", "what people call the project", _BOUNDED)
TOPIC_NAMES = _kept("topic_names", "project",
    "JSON: by a topic's stems, the name that a person gave it; equal names make one topic", "a person's decision")
RECOMMENDATIONS_DISMISSED = _kept("recommendations_dismissed", "project",
    "JSON: by sort of recommendation, the lessons and files of those that a person does not want to see again",
    "a person's decision", names_lessons=True)
LESSONS_CHANGED = _kept("lessons_changed", "store",
    "`yes`: lessons changed since an embedder looked for those without a vector", _ONE)
STAGED_SEEN = _kept("staged", "project",
    "a line for each checkout: the staged lessons seen there; `none`: no lesson is staged",
    _BOUNDED, names_lessons=True)
STAGED_SETTLED = _kept("staged_settled", "project",
    "digest of what was looked at when staged lessons were settled last", _BOUNDED)
LESSON_STATES = _expiring("states", "work tree", "JSON: lessons that are not fresh, since when, and who saw it",
    SESSION_DAYS, names_lessons=True)
ASKED = _expiring("asked", "session", "`yes`: the agent was asked what the session taught", SESSION_DAYS)
RULES_READ = _expiring("rules_read", "session", "rules files that the host has given to the agent, a path a line",
    SESSION_DAYS)
EMBEDDER_COVERING = _kept("embedder_covering", "store", "id of the embedder that every lesson had a vector of", _ONE)
EMBEDDER_FAILED = _kept("embedder_failed", "store", "when embedding lessons failed last, and why", _ONE)
EMBEDDER_RESTING = _expiring("embedder_resting", "embedder", "when it failed a question, and why", 7)
RULES_HOSTS = _kept("rules-hosts", "work tree",
    "hosts that rules files were asked for, a line each; ` waits` behind one that nothing is written for",
    "a person's decision")
AUDIT_DIARY = _expiring("audit", "project",
    "JSON: decisions of the day, and until when lessons are not shown, 90 days at most", 120, names_lessons=True)
BROUGHT_TOLD = _kept("brought_told", "project", "`yes`: a session was told that the repository brings lessons",
    _BOUNDED)
SYNCED = _kept("sharing", "project", "JSON: the extent of store and files at the last sync, and what it reported",
    _BOUNDED)
SESSION_DIGESTS = RowFamily(name="session_digests", owner="project", key="session",
    value="JSON: what was done in the session, in numbers, and who worked; no words")
SYNCED_LESSONS = RowFamily(name="synced_lessons", owner="project", key="shared id",
    value="JSON: the lesson's id here, its file, and digests of its fields as they were synced last; a purged"
    " lesson's id stays and tells that its file is not to be taken in again")
SESSION_TROUBLE = RowFamily(name="session_trouble", owner="project", key="session",
    value="JSON: when the session began, and by file how many calls failed, edits were taken back and lessons missed")
SYNCED_FILES = RowFamily(name="synced_files", owner="project and work tree, a line each", key="lesson file",
    value="the file's mark at the last sync, a space, and the shared id in it")
REMOTE_POSITION = _kept("remote_position", "project",
    "JSON: the position up to which a server's feed was read, and when it was synced last", _BOUNDED)
REMOTE_DOCUMENTS = RowFamily(name="remote_documents", owner="project and server, a line each", key="document's path",
    value="JSON: id and digest of the document, what the server has of it and says of it")
REMOTE_TEXTS = RowFamily(name="remote_texts", owner="project and server, a line each", key="document's path",
    value="the document as a lesson's file would say it", holds_words=True)
TRANSCRIPT_READ = _kept("backfill", "file",
    "inode, position and size up to which a transcript was read and learnt from",
    "a transcript that is read again would be learnt from again")
BACKFILLED_ROOTS = _kept("backfill_roots", "store", "work trees of earlier runs of backfill, a line each",
    "one value, bounded")
TIDIED = _kept("tidied", "store", "day on which old texts were looked for last", _ONE)
PLACE = _kept("place", "folder",
    "id, name, remote, root commit, URL as written, device:inode (and `description`'s time), a line each", _IDENTITY)
CLONE = _kept("git", "repository", "id, of a remote and a root commit", _IDENTITY)
REMOTE = _kept("remote", "repository", "id, and root commit (empty: seen in a shallow clone only)", _IDENTITY)
ROOT_COMMIT = _kept("root", "repository", "id and folder of a repository without a remote, by its root commit",
    _IDENTITY)
INODE = _kept("inode", "folder",
    "id, folder and time of birth, by device:inode (a freed number is soon another folder's)", _IDENTITY)
DECLARED = _kept("declared", "id",
    "repositories in which a declared id counts, a line each: remote, root commit, certificate",
    "who declared an id first owns it")
CLAIM = _kept("claim", "folder", "the declared id that was refused there, and what that rests on",
    "a claim is reported once")

# fmt: on
FAMILIES = tuple(value for value in list(vars().values()) if isinstance(value, StateFamily))
ROW_FAMILIES = tuple(value for value in list(vars().values()) if isinstance(value, RowFamily))


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
