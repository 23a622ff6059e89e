"""Renders lessons as one Markdown text for people, grouped by kind, each with its reason, remedy and standing."""

from __future__ import annotations

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.lean.texts import short_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.lesson import Lesson


def render_markdown(lessons: Sequence[Lesson], heading: str) -> Iterator[str]:
    """Yield the text's lines, redacted again, without private lessons; kinds in their usual order."""
    from holdfast.redaction import redact

    yield f"# {heading}"
    for kind in LESSON_KINDS:
        chosen = [lesson for lesson in lessons if lesson.kind == kind and not lesson.private]
        if chosen:
            yield from ("", f"## {kind.replace('_', ' ').capitalize()}")
        for lesson in chosen:
            yield ""
            yield from redact("\n".join(_entry(lesson))).split("\n")


def _entry(lesson: Lesson) -> Iterator[str]:
    title = " ".join(lesson.title.split())
    yield f"### {title}"
    yield ""
    if lesson.insight.strip() != lesson.title:
        yield from (lesson.insight.strip(), "")
    for label, text in (("Why", lesson.why), ("How", lesson.how)):
        if text:
            yield from (f"**{label}:** {text.strip()}", "")
    for snippet in lesson.snippets:
        fence = "`" * max(3, _longest_run(snippet) + 1)
        yield from (fence, snippet.rstrip("\n"), fence, "")
    yield f"*{'; '.join(_standing(lesson))}*"


def _standing(lesson: Lesson) -> Iterator[str]:
    yield short_id(lesson.id)
    yield lesson.state
    yield f"trust: {lesson.trust}"
    yield f"since {lesson.validity.valid_from:%Y-%m-%d}"
    if lesson.paths:
        yield f"about {', '.join(lesson.paths)}"
    if lesson.scope.level == "user":
        yield "for all projects"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
