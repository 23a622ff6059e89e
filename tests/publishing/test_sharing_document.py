"""Documents merge alike in any order, and their text says all of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import Anchor, Lesson, Scope, Triggers
from holdfast.lean.texts import has_drive
from holdfast.publishing.lessonfile import (
    EMPTY,
    Document,
    LessonFile,
    edit,
    join,
    merge_files,
    parse,
    render,
    settle,
    shared_id,
    split,
    tombstone,
)
from holdfast.publishing.sharedlesson import values_of
from holdfast.testing.builders import PROJECT, make_lesson

FIRST = {
    "kind": "constraint", "title": "Retries are capped", "insight": "Retries are capped at 3", "why": "the gateway",
    "tags": ["net"], "anchors": [{"path": "src/tides.py", "symbol": "HIGH"}], "provenance": {"said_by": "person"},
    "valid_from": "2026-01-01T00:00:00.000000Z",
}  # fmt: skip
ID = shared_id("constraint", "Retries are capped at 3")
words = st.sampled_from(["alpha", "beta", "gamma ray", "delta\n\nepsilon"])
changes: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"insight": words}),
    st.fixed_dictionaries({"why": words}),
    st.fixed_dictionaries({"title": words.map(lambda text: text.split("\n")[0])}),
    st.fixed_dictionaries({"tags": st.lists(words, unique=True, max_size=2)}),
    st.fixed_dictionaries({"state": st.sampled_from(["active", "retired", "superseded"])}),
    st.lists(words, min_size=1, unique=True).map(lambda paths: {"when": {"paths": paths}}),
    st.lists(words, min_size=1, unique=True).map(
        lambda paths: {"when": {"paths": paths, "standing": True, "edited": True}}
    ),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("edit"), st.integers(0, 2), changes),
        st.tuples(st.just("pull"), st.integers(0, 2), st.integers(0, 2)),
    ),
    max_size=14,
)


def first() -> Document:
    return settle(ID, FIRST, None)


def play(moves: list[tuple[str, int, Any]]) -> list[Document]:
    machines = [first(), first(), first()]
    for verb, machine, what in moves:
        if verb == "edit":
            machines[machine] = edit(machines[machine], **what)
        else:
            machines[machine] = join(machines[machine], machines[what])
    return machines


@given(steps)
def test_three_machines_agree_once_each_has_heard_of_all(moves: list[tuple[str, int, Any]]) -> None:
    machines = play(moves)
    for _ in range(3):
        for here in range(3):
            for there in range(3):
                machines[here] = join(machines[here], machines[there])
    assert len({render(document) for document in machines}) == 1


@given(steps)
def test_joining_is_the_same_both_ways_and_twice_is_once(moves: list[tuple[str, int, Any]]) -> None:
    document, other, _ = play(moves)
    joined = join(document, other)
    assert joined == join(other, document)
    assert join(joined, document).values == joined.values
    assert join(joined, joined) == joined


@given(steps)
def test_a_tombstone_stays_whatever_is_joined(moves: list[tuple[str, int, Any]]) -> None:
    gone = tombstone(ID, "constraint")
    for document in play(moves):
        assert join(document, gone) == join(gone, document) == gone


@given(steps)
def test_a_text_says_the_whole_document(moves: list[tuple[str, int, Any]]) -> None:
    for document in play(moves):
        parsed = parse("x.md", render(document).encode())
        assert isinstance(parsed, LessonFile)
        assert not parsed.was_edited
        assert parsed.document == document


texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Co", "Cn", "Zl", "Zp"]), max_size=40)
lines = st.lists(st.one_of(texts, st.sampled_from(["- a", "  b: c", "#", "yes", "1.10", "---", "", "{x}"])), max_size=4)


@given(lines.map("\n".join), st.lists(lines.map("\n".join), max_size=3))
def test_any_words_read_back_as_they_were_written(why: str, snippets: list[str]) -> None:
    from holdfast.lessons.statement import clean

    cleaned = list(dict.fromkeys(filter(None, map(clean, snippets))))
    document = edit(first(), why=clean(why), snippets=cleaned)
    parsed = parse("x.md", render(document).encode())
    assert isinstance(parsed, LessonFile)
    assert parsed.document == document


TRICKY = (
    "*", "**/*.py", "*a b", "&a", "&a b", "!x", "!!str x", "%x", "@x", "`x`", "- a", "-", "? a", "?", ": a", ":",
    "a: b", "a:", "a #b", "#", "{x}", "{x", "[x]", "[", "]", "yes", "No", "~", "null", "1.10", "0x1F", "1e3", "12:30",
    "'", "''", '"', '"a" b', "\\", "\\n", "|", "|-", ">", ">-", "---", "...", "--- a", "=", "<<", "a\tb", "a\nb", 
    "a\n\nb", "a\n  b",
    "a\n- b", "a\n---\nb", "<<<<<<< a", "a\n======= b", "a, b", "a]", "a}", "\u2028", "\ufeffa", "\u00e9", "\U0001f980",
    "src/*/[a-z]?.py", "!node_modules/**", "{a,b}/*.ts", "docs/**", "x" * 300, "x" * 200 + ": " + "y" * 200,
)  # fmt: skip
"""What YAML may take for something else than a text, and patterns of paths."""


def is_inside(path: str) -> bool:
    """Whether it may be a path of the project."""
    return not path.startswith(("/", "\\")) and not has_drive(path) and ".." not in path


anything = st.one_of(st.sampled_from(TRICKY), texts, lines.map("\n".join))
one_line = anything.map(lambda text: " ".join(text.split())[:60])
paths = st.one_of(st.sampled_from([text for text in TRICKY if "\n" not in text]), one_line).filter(is_inside)
items = st.lists(anything, max_size=3).map(tuple)
lessons = st.builds(
    lambda words, lists, anchors, when, scope: make_lesson(
        **words, **lists, anchors=tuple(anchors), when=when, scope=Scope(project=PROJECT, path_prefix=scope)
    ),
    st.fixed_dictionaries(
        {
            "insight": anything.map(lambda text: f"Retries {text}"),
            "title": one_line.map(lambda text: text or "Retries"),
            "kind": st.sampled_from(LESSON_KINDS),
            **dict.fromkeys(("why", "how", "topic_key", "command", "error_signature", "revival"), anything),
        }
    ),
    st.fixed_dictionaries({"snippets": items, "tags": items, "globs": st.lists(paths, max_size=3).map(tuple)}),
    st.lists(st.builds(Anchor, path=paths.map(lambda text: text or "a.py"), symbol=one_line), max_size=3),
    st.builds(Triggers, paths=items, symbols=items, literals=items, commands=items, standing=st.booleans()),
    paths,
)  # fmt: skip


@settings(max_examples=settings.default.max_examples * 10)
@given(lessons)
def test_every_lesson_is_read_back_from_its_file_as_it_was_written(lesson: Lesson) -> None:
    values = values_of(lesson, {}, None)
    document = settle(shared_id(lesson.kind, lesson.insight), values, None)
    parsed = parse("x.md", render(document).encode())
    assert isinstance(parsed, LessonFile), parsed
    assert parsed.document.values == values
    assert parsed.document == document


def test_two_edits_of_two_fields_are_both_stored() -> None:
    joined = join(edit(first(), why="the bank"), edit(first(), tags=["net", "retry"]))
    assert (joined.values["why"], joined.values["tags"], joined.values["rivals"]) == ("the bank", ["net", "retry"], [])


def test_of_two_rules_both_stay_and_contradict_each_other() -> None:
    joined = join(edit(first(), insight="Retries are capped at 5"), edit(first(), insight="Retries are capped at 9"))
    winner, rivals = split(joined)
    assert winner.values["insight"] == "Retries are capped at 9"
    assert [rival.values["insight"] for rival in rivals] == ["Retries are capped at 5"]
    assert winner.values["links"] == [{"kind": "contradicts", "target": rivals[0].id}]
    assert rivals[0].values["links"] == [{"kind": "contradicts", "target": winner.id}]
    assert split(winner) == (winner, [])


def test_an_old_revision_does_not_come_back() -> None:
    old = first()
    new = edit(edit(old, why="the bank"), why="both")
    assert join(new, old) == new
    back = edit(new, why=old.values["why"])
    assert join(back, new) == back
    assert join(back, old) == back


def test_an_edit_by_hand_counts_as_one() -> None:
    text = render(first()).replace("Retries are capped at 3\n", "Retries are capped at 4\n")
    parsed = parse("x.md", text.encode())
    assert isinstance(parsed, LessonFile)
    assert parsed.was_edited
    assert join(parsed.document, first()).values["insight"] == "Retries are capped at 4"


def test_a_file_that_lost_its_stamps_goes_by_those_before() -> None:
    def without_stamps(document: Document) -> str:
        head, _, rest = render(document).partition("sync:\n")
        return head + "---" + rest.partition("\n---")[2]

    base, ours = first(), edit(first(), why="the bank")
    theirs = without_stamps(edit(first(), title="Retries end"))
    merged = merge_files("x.md", render(base).encode(), render(ours).encode(), theirs.encode())
    assert merged is not None
    assert "why: the bank" in merged
    assert "title: Retries end" in merged


def test_two_lessons_are_not_merged() -> None:
    other = settle(shared_id("fix", "else"), {**FIRST, "insight": "else"}, None)
    content = render(first()).encode()
    assert merge_files("x.md", content, content, render(other).encode()) is None
    assert merge_files("x.md", b"", content, b"text") is None


def test_every_field_has_a_place_in_the_text() -> None:
    assert set(FIRST) <= set(EMPTY)
