"""What a question is made of, what a host's call is cut to, and how one lesson is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.capture.observe import ends_of
from holdfast.domain.briefing import Briefing, Ranked, Why
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Evidence, Link, Provenance
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.ports.store import LogFilter
from holdfast.recall.deliver import inject, log_recall, prepare
from holdfast.recall.question import question, with_vector, without
from holdfast.recall.quotation import quote_checkpoint, quote_lesson, quote_near
from holdfast.testing.builders import START, make_checkpoint, make_lesson
from tests.recall.test_brief import distinct
from tests.recall.test_moments import keep
from tests.recall.test_turn import QUEUE

# Questions


def test_a_question_is_about_what_it_is_given_and_what_its_words_name(memory: Memory) -> None:
    query = question(
        memory.services, memory.location, "why does `src/tides.py` call refreshRoster()?", paths=["README.md",
        "/etc/passwd"],
        symbols=["Tide"], command="make x", kinds=("fix",), states=("candidate",), all_projects=True,
    )  # fmt: skip
    assert query.paths == ("README.md", "src/tides.py")
    assert query.symbols == ("Tide", "refreshRoster")
    assert (query.command, query.kinds, query.states, query.all_projects) == ("make x", ("fix",), ("candidate",), True)
    assert (query.project, query.prefix, query.error) == (memory.location.project.id, memory.location.prefix, "")


def test_a_plain_question_is_about_active_lessons_of_this_project_now(memory: Memory) -> None:
    query = question(memory.services, memory.location, "tides")
    assert (query.states, query.all_projects, query.as_of, query.since, query.until) == (
        ("active",), False, None, None, None,
    )  # fmt: skip
    assert query.at is not None
    then = question(memory.services, memory.location, "what did we learn in the last 7 days?", as_of=START)
    assert (then.at, then.as_of) == (None, START)
    assert then.since is not None
    assert START - timedelta(days=9) < then.since < START


@pytest.mark.parametrize("name", ["text", "command", "error"])
def test_what_is_no_text_is_refused_by_its_name(memory: Memory, name: str) -> None:
    fields: dict[str, Any] = {name: 3}
    with pytest.raises(InvalidValueError, match=f"{name} must be a text, not int"):
        question(memory.services, memory.location, **fields)


class Embedder:
    """Counts what it is asked."""

    id = "count/1"
    dimension = 1

    def __init__(self, is_local: bool = False, fails: bool = False) -> None:
        self.is_local, self.fails, self.texts = is_local, fails, 0

    def embed_documents(self, texts: Any) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        self.texts += 1
        if self.fails:
            raise EmbedderError("no answer")
        return [1.0]


@pytest.mark.parametrize(
    ("embedder", "fields", "local", "texts", "words"),
    [
        (Embedder(), {}, False, 1, ""),
        (Embedder(), {}, True, 0, ""),
        (Embedder(is_local=True), {}, True, 1, ""),
        (None, {}, False, 0, ""),
        (Embedder(), {"text": "  "}, False, 0, ""),
        (Embedder(), {"vector": (0.5,)}, False, 0, ""),
        (Embedder(fails=True), {}, False, 1, "without vectors: no answer"),
    ],
)
def test_a_question_in_words_gets_its_vector_where_an_embedder_may_be_waited_for(
    memory: Memory, embedder: Any, fields: dict[str, Any], local: bool, texts: int, words: str
) -> None:
    services = replace(memory.services, embedder=lambda: embedder)
    query = replace(question(services, memory.location, "tides"), **fields)
    placed, notes = with_vector(services, query, local=local)
    assert (embedder.texts if embedder else 0) == texts
    has_vector = texts == 1 and not words
    assert (placed.vector, placed.embedder_id) == (((1.0,), "count/1") if has_vector else (query.vector, ""))
    assert notes.startswith(words) if words else "without vectors" not in notes


def test_what_is_left_out_is_left_out_once(memory: Memory) -> None:
    query = replace(question(memory.services, memory.location, "tides"), exclude=(LessonId("a"),))
    assert without([LessonId("b"), LessonId("a")], query).exclude == ("a", "b")


# Calls of hosts


def call(memory: Memory, **fields: Any) -> HookCall:
    plain = {"host": "claude-code", "name": "Hook", "session": SessionId("s1"), "cwd": memory.folder}
    return HookCall(**{**plain, **fields})


@pytest.mark.parametrize("moment", [None, "on_demand"])
def test_nothing_is_pushed_for_no_moment(memory: Memory, moment: Any) -> None:
    handover = prepare(memory.services, memory.location, call(memory, moment=moment))
    assert handover.briefing == Briefing(moment="on_demand")
    assert handover.deliveries() == []


def test_nothing_is_pushed_at_a_moment_that_is_off(memory: Memory) -> None:
    services = replace(memory.services, deliver=("session_start",))
    assert prepare(services, memory.location, call(memory, moment="prompt")).briefing == Briefing(moment="prompt")


def test_a_hosts_smaller_budget_counts_and_a_larger_one_does_not(memory: Memory) -> None:
    for number in range(4):
        keep(memory, distinct(number))
    start = call(memory, moment="session_start")
    whole = prepare(memory.services, memory.location, start).briefing
    assert prepare(memory.services, memory.location, start, budget_tokens=90_000).briefing.text == whole.text
    small = prepare(memory.services, memory.location, start, budget_tokens=whole.tokens - 20).briefing
    assert 0 < len(small.entries) < len(whole.entries)


@pytest.mark.parametrize(
    ("fields", "trigger"),
    [
        ({"error": "boom", "command": "make"}, "boom"),
        ({"command": "make  x\n y", "paths": ("a.py",)}, "make x y"),
        ({"paths": ("src/tides.py", "b.py"), "prompt": "hi"}, "src/tides.py"),
        ({"paths": ("/etc/passwd",)}, "/etc/passwd"),
        ({"prompt": "why " * 60}, ("why " * 60)[:120].strip()),
        ({}, "Hook"),
    ],
)
def test_what_an_agent_was_shown_is_logged_with_what_brought_it(
    memory: Memory, fields: dict[str, Any], trigger: str
) -> None:
    lessons = [keep(memory, QUEUE), keep(memory, "Another rule.")]
    items = tuple(
        Ranked(lesson=lesson, rank=rank, score=0.5, why=Why(words="w"), also=(LessonId(f"also{rank}"),))
        for rank, lesson in enumerate(lessons, 1)
    )
    fields["paths"] = tuple(
        f"{memory.location.root}/{path}" if not path.startswith("/") else path for path in fields.get("paths", ())
    )
    log_recall(memory.services, memory.location, Briefing(items=items, tokens=41), call(memory, **fields))
    rows = memory.services.store.find_records(Delivery, LogFilter(project=memory.location.project.id))
    assert {(row.lesson, row.rank, row.trigger.strip(), row.tokens, row.reason) for row in rows} == {
        (lesson, rank, trigger, 10, "w")
        for rank, each in enumerate(lessons, 1) for lesson in (each.id, f"also{rank}")
    }  # fmt: skip


def test_nothing_shown_is_not_logged_and_a_restored_state_is_under_its_own_id(memory: Memory) -> None:
    log_recall(memory.services, memory.location, Briefing(), call(memory))
    assert memory.log() == []
    state = make_checkpoint(project=memory.location.project.id, session=SessionId("s0"), at=memory.services.clock.now())
    memory.services.store.record([state])
    inject(memory.services, memory.location, call(memory, moment="session_start"))
    [row] = memory.log()
    assert (row.lesson, row.rank, row.score, row.reason) == (state.id, 0, 0.0, "the task's state was restored")


@pytest.mark.parametrize(
    ("middle", "tail"),
    [
        ("<private>secret</private> " + "b" * 60, "c" * 16_000),
        ("b" * 60 + "<PRIVATE>", "</private>" + "c" * 15_990),
        ("b" * 60 + "<private>", "hidden</private>" + "c" * 15_984),
    ],
)
def test_a_tail_that_begins_within_a_private_span_begins_behind_it(middle: str, tail: str) -> None:
    text = "a" * 48_000 + middle + tail
    kept_tail = ends_of(text).partition("\n")[2]
    assert kept_tail == (tail if tail[0] == "c" else "c" * (len(tail) - tail.index("c")))


# Quotations


def test_a_lesson_is_shown_field_by_field_and_empty_ones_are_left_out() -> None:
    lesson = make_lesson(
        insight="Drain the queue.", title="Drain", why="Jobs are lost.", confidence=0.876,
        snippets=("if x:\n    drain()", ""), paths=tuple(f"src/f{n}.py" for n in range(22)),
        links=tuple(Link(kind="refines", target=LessonId(f"l{n}")) for n in range(21)),
        provenance=Provenance(
            host="claude-code", detector="says/1", session=SessionId("s"),
            evidence=(Evidence(event="e", quote="drain it", start=0, end=8),),  # type: ignore[arg-type]
        ),
    )  # fmt: skip
    text = quote_lesson(lesson, ("drifted", "src/f0.py changed"))
    rows = text.split("\n")
    assert f"lesson: {lesson.id}" in rows
    assert any(row.startswith("kind: convention, active, source ") and row.endswith("confidence 0.88") for row in rows)
    assert "code: drifted: src/f0.py changed" in rows
    at = rows.index("title: Drain")
    assert rows[at + 1 : at + 3] == ["insight: Drain the queue.", "why: Jobs are lost."]
    assert "snippets:" in rows
    assert rows[rows.index("snippets:") + 1 :][:2] == ["if x:", "    drain()"]
    assert not any(row.startswith("how:") for row in rows)
    where = next(row for row in rows if row.startswith("where: "))
    assert (where.count(","), "f19.py" in where, "f20.py" in where) == (19, True, False)
    links = next(row for row in rows if row.startswith("links: "))
    assert links.count("refines") == 20
    assert any(row.startswith("learnt: 2026-03-01") and row.endswith("claude-code says/1") for row in rows)
    assert "evidence: &gt; drain it" in rows or "evidence: > drain it" in rows
    assert "code: fresh" in quote_lesson(lesson, ("fresh", ""))


def test_a_long_field_is_cut_at_four_thousand_characters() -> None:
    whole, cut = (quote_lesson(make_lesson(why="w" * size), ("fresh", "")) for size in (4_000, 4_001))
    assert "w" * 4_000 in whole
    assert "w" * 3_999 + "…" in cut


def test_the_nearest_are_shown_by_id_title_and_reason() -> None:
    lesson = make_lesson(title="Drain the queue")
    near = [Ranked(lesson=lesson, rank=1, score=0.1, why=Why(words=words)) for words in ("shares queue", "")]
    text = quote_near(near)
    assert f"[{short_id(lesson.id)}] Drain the queue (shares queue) (" in text
    assert f"[{short_id(lesson.id)}] Drain the queue (" in text.replace(" (shares queue)", "")


def test_a_checkpoint_is_shown_whole() -> None:
    text = quote_checkpoint(make_checkpoint(goal="make the login test pass", next=("read it",)))
    assert "make the login test pass" in text
    assert "read it" in text
