"""Where a lesson comes from, in the one word that every delivered line carries."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.vocabulary import Trust

SOURCE_WORDS: dict[Trust, str] = {
    "person": "user", "verified": "proved", "agent": "agent", "repository": "file", "tool": "tool output",
}  # fmt: skip
"""Said by a person, proved by exit codes, concluded by an agent, read in a file or in a tool's output."""


GIT_HISTORY = "git_history/"
"""What the detector of a lesson from a commit begins with; its version follows."""


def source_word(lesson: Lesson) -> str:
    """`user`, `proved`, `agent`, `file`, `commit` or `tool output`; `agent, unconfirmed` for one that is not active."""
    word = "commit" if is_from_commit(lesson) else SOURCE_WORDS[lesson.trust]
    return word if lesson.state == "active" else f"{word}, unconfirmed"


def is_from_commit(lesson: Lesson) -> bool:
    """Whether a commit's message says it and no person has accepted it."""
    return lesson.trust == "repository" and lesson.provenance.detector.startswith(GIT_HISTORY)
