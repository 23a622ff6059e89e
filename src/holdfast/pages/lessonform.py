"""The form in which a person rewrites a lesson, and what of it differs from the lesson as it is."""

from __future__ import annotations

from dataclasses import dataclass, fields

from holdfast.domain.lesson import INSIGHT_LIMIT, TITLE_LIMIT, Lesson
from holdfast.errors import AmbiguousIdError, HoldfastError, LessonNotFoundError, StaleWriteError
from holdfast.lean.plain import render_instant
from holdfast.lessons.lookup import not_found
from holdfast.pages.page import NoValues, Page, PageRow
from holdfast.pages.view import Door, View
from holdfast.reports.differences import Piece, word_pieces

WORDS = ("title", "insight", "why", "how")
LISTS = ("paths", "symbols", "literals", "commands", "work", "needs")
LABELS = {
    "title": "Title", "insight": "Rule", "why": "Why", "how": "What to do", "paths": "Files", "symbols": "Definitions",
    "literals": "Text in an edit or a command", "commands": "Commands", "work": "Kinds of commands",
    "needs": "Must have passed",
}  # fmt: skip
CONFLICT, WRONG = 409, 422


@dataclass(frozen=True, slots=True, kw_only=True)
class EditForm:
    """What a person typed; lists have one value a line."""

    version: str = ""
    """The version that the person has read (`LessonStory.version`)."""
    title: str = ""
    insight: str = ""
    why: str = ""
    how: str = ""
    paths: str = ""
    symbols: str = ""
    literals: str = ""
    commands: str = ""
    work: str = ""
    needs: str = ""
    standing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """A field in which what was typed differs from what somebody else has saved meanwhile."""

    name: str
    label: str
    theirs: str
    pieces: tuple[Piece, ...]
    """From theirs to what was typed, by words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditData:
    """What the page for editing a lesson says."""

    lesson: Lesson
    """As it is now; saving replaces this version."""
    form: EditForm
    problem: str = ""
    """Why it was not saved; empty: nobody has tried."""
    hint: str = ""
    is_stale: bool = False
    """Somebody changed the lesson meanwhile: `differences` shows both."""
    differences: tuple[FieldDifference, ...] = ()
    title_limit: int = TITLE_LIMIT
    rule_limit: int = INSIGHT_LIMIT


def make_edit(view: View, query: NoValues) -> Page:
    """Return the page for editing a lesson."""
    lesson = in_force(view.memory, find_lesson(view))
    if not view.sees(lesson):
        raise not_found(view.memory.location, view.parameters["lesson"])
    return edit_page(lesson, form_of(lesson))


def find_lesson(view: View) -> Lesson:
    """Return the lesson of the address. Raises LessonNotFoundError, in the same words for one that may not be seen."""
    memory, ref = view.memory, view.parameters["lesson"]
    try:
        lesson = memory.get(ref)
    except LessonNotFoundError:
        raise not_found(memory.location, ref) from None
    except AmbiguousIdError:
        if view.is_served:  # the error names ids, also of what the reader may not see
            raise not_found(memory.location, ref) from None
        raise
    if not view.sees(lesson):
        raise not_found(memory.location, ref)
    return lesson


def in_force(door: Door, lesson: Lesson) -> Lesson:
    """Return the lesson, or the living one that has replaced it meanwhile."""
    if lesson.state != "superseded":
        return lesson
    known, current = {lesson.id}, lesson
    for version in door.lineage(lesson.id):
        each = version.lesson
        if any(link.kind == "supersedes" and link.target in known for link in each.links):
            known.add(each.id)
            current = door.get(each.id)
    return current


def edit_page(lesson: Lesson, form: EditForm, problem: HoldfastError | None = None) -> Page:
    """Return the page with what was typed; a lesson that somebody changed meanwhile is shown beside it."""
    is_stale = isinstance(problem, StaleWriteError)
    current = form_of(lesson)
    differences = tuple(_difference(name, current, form) for name in (*WORDS, *LISTS)) if is_stale else ()
    data = EditData(
        lesson=lesson,
        form=_with_version(form, current.version),
        problem=str(problem) if problem else "",
        hint=problem.hint if problem else "",
        is_stale=is_stale,
        differences=tuple(each for each in differences if each is not None),
    )
    status = 200 if problem is None else CONFLICT if is_stale else WRONG
    return Page(template="lesson-edit", title=f"Edit: {lesson.title}", data=data, status=status)


def form_of(lesson: Lesson) -> EditForm:
    """Return the form filled in with the lesson as it is."""
    lists = {name: "\n".join(getattr(lesson.when, name)) for name in LISTS}
    return EditForm(
        version=render_instant(lesson.recorded_at), title=lesson.title, insight=lesson.insight, why=lesson.why,
        how=lesson.how, standing=lesson.when.standing, **lists,
    )  # fmt: skip


def changed_fields(lesson: Lesson, form: EditForm) -> tuple[dict[str, str], dict[str, object]]:
    """Return the words, and the conditions under which the lesson is told, that differ from the lesson."""
    words = {name: _text(getattr(form, name)) for name in WORDS}
    changed = {name: text for name, text in words.items() if text != _text(getattr(lesson, name))}
    lists = {name: _lines(getattr(form, name)) for name in LISTS}
    triggers: dict[str, object] = {
        name: values for name, values in lists.items() if values != tuple(getattr(lesson.when, name))
    }
    if form.standing != lesson.when.standing:
        triggers["standing"] = form.standing
    return changed, triggers


def _difference(name: str, theirs: EditForm, typed: EditForm) -> FieldDifference | None:
    before, after = _text(getattr(theirs, name)), _text(getattr(typed, name))
    if before == after:
        return None
    return FieldDifference(name=name, label=LABELS[name], theirs=before, pieces=word_pieces(before, after))


def _with_version(form: EditForm, version: str) -> EditForm:
    values = {field.name: getattr(form, field.name) for field in fields(EditForm)}
    return EditForm(**{**values, "version": version})


def _text(text: str) -> str:
    """Return the text as a browser's text field has it, with the line ends that a lesson has."""
    return text.replace("\r\n", "\n").strip()


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for each in _text(text).split("\n") if (line := each.strip()))


PAGES = (
    PageRow(
        path="/p/{project}/lessons/{lesson}/edit", name="lesson-edit", title="Edit a lesson", make=make_edit,
        verb="write", under="search",
    ),
)  # fmt: skip
