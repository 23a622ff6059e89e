"""The words for where a lesson comes from, and for what was done to it, for people."""

from __future__ import annotations

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Trust

FINDERS: dict[str, str] = {
    "answers": "the user's answer to a question",
    "code_comment": "a comment in the code",
    "commit_text": "a commit's message",
    "commands": "the commands of several sessions",
    "compaction_summary": "a summary before a compaction",
    "correction": "a correction by the user",
    "distil": "a session that a model read",
    "explicit": "a request of the user to remember it",
    "exploration": "searches and reads of a session",
    "fail_fix": "a failure and its fix",
    "git_history": "a commit's message",
    "host_memory": "the host's own memory",
    "jsonl": "an export",
    "lessonfile": "a shared file",
    "lint_rules": "a lint rule and its waiver",
    "organisation": "the organisation's rules",
    "red_green": "tests that failed and then passed",
    "reverted_work": "work that was reverted",
    "statements": "a sentence of the session",
}
"""What a detector finds a lesson in."""
TRUST_WORDS: dict[Trust, str] = {
    "person": "a person's word", "verified": "runs that proved it", "agent": "an agent's word",
    "repository": "a text of the repository", "tool": "output of a tool or of the web",
}  # fmt: skip
"""What a lesson rests on, by its trust."""
READ_IN: dict[Trust, str] = {
    "repository": "Read in a text of the repository.", "tool": "Read in the output of a tool, or on the web.",
}  # fmt: skip
CHANGE_WORDS: dict[str, str] = {
    "remember": "stated", "learn": "learnt", "revise": "revised", "edit": "edited", "confirm": "confirmed",
    "accept": "accepted", "reject": "rejected", "retire": "retired", "forget": "forgotten", "settle": "settled",
    "undo": "restored by an undo", "import": "imported", "sync": "synced with the shared files",
    "reanchor": "followed to where its code is now", "stage": "staged on its branch", "merge": "merged with its branch",
    "rescue": "shown everywhere", "promote": "made a lesson for all projects", "wake": "woken", "tidy": "tidied",
}  # fmt: skip
"""What a change did to a lesson, by its verb."""


def found_by(detector: str) -> str:
    """Return what a lesson was found in; a detector or importer without words here is named by its id."""
    name = detector.partition("/")[0]
    return FINDERS.get(name, name.replace("_", " "))


def change_words(verb: str) -> str:
    """Return what a change of that verb did to a lesson: `revised`, `followed to where its code is now`."""
    return CHANGE_WORDS.get(verb, verb.replace("_", " "))


def origin_words(lesson: Lesson) -> str:
    """Say in a sentence who said the lesson, or what it was read from or learnt from."""
    source = lesson.provenance
    person = source.person_name or "a person"
    if source.origin:
        return f"Read from {source.origin}."
    if source.quotes_person:
        return f"{_capital(source.author or 'an agent')} worded what {person} typed."
    if source.detector:
        words = f"Learnt from {found_by(source.detector)}"
        return f"{words}, in a session of {source.person_name}." if source.person_name else f"{words}."
    if lesson.trust == "agent":
        return f"{_capital(source.author or 'an agent')} stated it."
    if lesson.trust in READ_IN:
        return READ_IN[lesson.trust]
    return f"{_capital(source.person_name or source.author or 'a person')} stated it."


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
