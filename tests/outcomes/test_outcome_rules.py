"""The tables behind outcomes: advice in words, standing, weights and hold-out, each at its bounds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import Memory
from holdfast.domain.briefing import Briefing, Ranked, RetrieverShare, Why
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.records import Outcome
from holdfast.domain.statefamilies import OUTCOME_WEIGHTS
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.outcomes.judge import advice_of
from holdfast.outcomes.standing import (
    OrderEvidence,
    Standing,
    is_withheld,
    may_withhold,
    order_evidence,
    order_factors,
    standing_of,
    store_evidence,
)
from holdfast.testing.builders import START, make_lesson, make_outcome

QUEUE = "Drain the retry queue before shutdown; pending jobs are lost otherwise."
PROMPT = "why does the retry queue lose jobs at shutdown?"


def made(*verdicts: str, judge: str = "judge/1", **fields: Any) -> list[Outcome]:
    return [
        make_outcome(verdict=verdict, judge=judge, at=START + timedelta(minutes=n), **fields)
        for n, verdict in enumerate(verdicts)
    ]


# Advice


@pytest.mark.parametrize(
    ("words", "names", "denied"),
    [
        ("Use `paths.RepoRoot`, never `os.Getwd`.", ["paths.RepoRoot"], ["os.Getwd"]),
        ("Never use `os.Getwd`; use `paths.RepoRoot`.", ["paths.RepoRoot"], ["os.Getwd"]),
        ("Call NewSilentError instead of raw_error here.", ["NewSilentError"], ["raw_error"]),
        ("Do not use fmt.Println, log_print or os.Stdout.", [], ["fmt.Println", "log_print", "os.Stdout"]),
        ("Prefer t.TempDir over handmade folders, but not os.MkdirTemp.", ["t.TempDir"], ["os.MkdirTemp"]),
        ("The `token` is optional.", [], []),
    ],
)
def test_names_are_affirmed_or_denied_by_their_clause(words: str, names: list[str], denied: list[str]) -> None:
    advice = advice_of(make_lesson(insight=words))
    assert (list(advice.names), list(advice.denied)) == (names, denied)


def test_commands_files_and_tests_are_distinguished_from_names() -> None:
    words = "Run `mise run test:ci`, not `mise run test`; docs/guide.md says why. Add a test with every fix."
    advice = advice_of(make_lesson(insight=words, path="src/tides.py"))
    assert advice.commands == ("mise run test:ci",)
    assert advice.denied_commands == ("mise run test",)
    assert advice.files == ("src/tides.py", "docs/guide.md")
    assert advice.is_order


@pytest.mark.parametrize(
    ("words", "commands", "denied"),
    [
        ("Run `make db up` before `make migrate`.", ["make db up"], []),
        ("Before running `make migrate`, start it with `make db up`.", ["make db up"], []),
        ("`make migrate` fails without `make db up`.", ["make db up"], []),
        ("`make migrate` needs the database: `make db up` first.", ["make db up"], []),
        ("When you run `make migrate`, never use `make db fast`.", [], ["make db fast"]),
        ("After cloning run `make db up`.", ["make db up"], []),
        ("`make migrate` takes a minute.", [], []),
    ],
)
def test_a_command_that_names_the_occasion_is_not_the_act(words: str, commands: list[str], denied: list[str]) -> None:
    advice = advice_of(make_lesson(title="Migrations", insight=words))
    assert (list(advice.commands), list(advice.denied_commands)) == (commands, denied)


# Standing


@pytest.mark.parametrize("judge", ["", "agent"])
def test_one_report_of_harm_puts_a_lesson_behind_all_others(judge: str) -> None:
    standing = standing_of(made(*["heeded"] * 40) + made("hurt", judge=judge))
    assert (standing.factor, standing.is_doubted) == (0.25, True)


@pytest.mark.parametrize(
    ("helped_by", "hurt_by", "is_hurt"),
    [("", "", False), ("", "agent", False), ("agent", "", True), ("agent", "agent", False)],
)
def test_a_statement_that_it_helped_lifts_a_lesson_if_it_weighs_as_much(
    helped_by: str, hurt_by: str, is_hurt: bool
) -> None:
    assert standing_of(made("hurt", judge=hurt_by) + made("helped", judge=helped_by)).is_hurt == is_hurt


def test_users_who_state_the_opposite_twice_put_a_lesson_in_doubt() -> None:
    assert not standing_of(made("overridden")).is_doubted
    assert standing_of(made("overridden", "overridden")).is_doubted
    assert not standing_of(made("overridden", "overridden", "heeded", "heeded")).is_doubted


def test_withheld_outcomes_and_those_before_a_persons_say_do_not_count() -> None:
    assert standing_of(made("overridden", "overridden", withheld=True)).factor == 1.0
    assert standing_of(made("hurt", judge=""), since=START + timedelta(hours=1)) == Standing()


def test_a_lesson_has_an_estimate_of_its_own() -> None:
    standing = standing_of(made("heeded", "unclear", "ignored") + made("heeded", "unclear", withheld=True))
    assert standing.estimate == "told 3 times, heeded 1; withheld 2 times, done anyway 1"
    assert standing_of(made("missed")).estimate == ""


def test_sessions_that_needed_a_lesson_are_counted_once_each() -> None:
    outcomes = made("heeded", session=SessionId("a")) + made("helped", session=SessionId("a"), judge="")
    assert standing_of([*outcomes, *made("missed", session=SessionId("b"))]).needed == 2


@given(st.lists(st.sampled_from(["heeded", "ignored", "overridden", "failed", "hurt"]), max_size=12), st.randoms())
def test_the_order_in_which_outcomes_are_read_does_not_matter(verdicts: list[str], rnd: Any) -> None:
    outcomes = made(*verdicts)
    before = standing_of(outcomes)
    rnd.shuffle(outcomes)
    assert standing_of(outcomes) == before


# The order


def test_the_order_is_one_row_and_a_damaged_row_is_none(memory: Memory) -> None:
    store, project = memory.services.store, memory.location.project.id
    store.record(made(*["heeded"] * 3, project=project, lesson=LessonId("good"), session=SessionId("s")))
    store.record(made("hurt", judge="", project=project, lesson=LessonId("bad")))
    store.record(made("unclear", project=project, lesson=LessonId("plain")))
    store_evidence(store, project)
    assert order_factors(store, project) == {"good": 2.0, "bad": 0.25}
    assert order_evidence(store, project).needed == {"good": 1}
    for damaged in ("{", "[]", '{"lessons": {}, "shifts": {}}', '{"order": {"a": 1}}', '{"order": {"a": [NaN, 1]}}'):
        store.set_state(OUTCOME_WEIGHTS, project, damaged)
        assert order_factors(store, project) == {}


def test_what_a_row_says_stays_within_the_ranges(memory: Memory) -> None:
    store, project = memory.services.store, memory.location.project.id
    store.set_state(OUTCOME_WEIGHTS, project, '{"order": {"a": [9.0, 1], "b": [0.01, -4]}}')
    assert order_factors(store, project) == {"a": 2.0, "b": 0.25}
    assert order_evidence(store, project).needed == {"a": 1}


def test_a_factor_is_shown_among_the_multipliers() -> None:
    why = Why(shares=(RetrieverShare(lane="text", rank=1, raw=0.5, share=0.3),))
    ranked = Ranked(lesson=make_lesson(), rank=1, score=0.3, why=why)
    applied = OrderEvidence(factors={ranked.lesson.id: 2.0}, needed={}).apply(ranked)
    assert (applied.why.multipliers, applied.score) == ((("outcome", 2.0),), 0.6)
    assert OrderEvidence(factors={}, needed={}).apply(ranked) is ranked


# Hold-out


def pair(n: int, m: int) -> tuple[SessionId, LessonId]:
    return SessionId(str(UUID(int=n * 7919))), LessonId(str(UUID(int=m * 104729)))


def test_the_share_that_is_withheld_is_the_one_configured_and_lessons_are_drawn_independently() -> None:
    drawn = [[is_withheld(*pair(n, m), 0.05) for m in range(100)] for n in range(400)]
    assert 0.045 < sum(map(sum, drawn)) / 40_000 < 0.055
    together = sum(row[a] and row[a + 1] for row in drawn for a in range(0, 100, 2)) / 20_000
    assert 0.001 < together < 0.005
    assert max(map(sum, drawn)) < 20


def test_nothing_is_withheld_where_it_is_turned_off() -> None:
    assert not any(is_withheld(*pair(n, n), 0) for n in range(1_000))


def keep(memory: Memory, **fields: Any) -> Lesson:
    plain = {"trust": "agent", "when": Triggers(standing=True), "kind": "preference"}
    lesson = make_lesson(project=memory.location.project.id, insight=QUEUE, **{**plain, **fields})
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def begin(memory: Memory, session: str) -> Briefing:
    return memory.inject(
        HookCall(
            host="claude-code", name="SessionStart", session=SessionId(session), cwd=memory.folder,
            moment="session_start",
        )
    )  # fmt: skip


def ask(memory: Memory, session: str) -> Briefing:
    call = HookCall(
        host="claude-code", name="UserPromptSubmit", session=SessionId(session), cwd=memory.folder, moment="prompt",
        prompt=PROMPT,
    )  # fmt: skip
    return memory.inject(call)


def held_back(lesson: Lesson) -> str:
    """A session from whose brief the lesson is withheld at the usual share."""
    return next(f"s{n}" for n in range(10_000) if is_withheld(SessionId(f"s{n}"), lesson.id, 0.05))


@pytest.fixture
def careful(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The memory with its usual hold-out."""
    monkeypatch.setenv("HOLDFAST_HOLDOUT", "0.05")
    with Memory(memory.folder) as opened:
        yield opened


def test_a_withheld_line_of_a_brief_is_logged_once_however_often_it_would_be_delivered(careful: Memory) -> None:
    lesson = keep(careful)
    session = held_back(lesson)
    assert [begin(careful, session).text, begin(careful, session).text] == ["", ""]
    assert careful.log() == []
    (outcome,) = careful.withheld(session=SessionId(session))
    assert (outcome.verdict, outcome.moment, outcome.withheld) == ("withheld", "session_start", True)
    assert begin(careful, "told").entries


def test_nothing_is_withheld_on_a_prompt(careful: Memory) -> None:
    lesson = keep(careful, kind="constraint", when=Triggers())
    assert ask(careful, held_back(lesson)).items


@pytest.mark.parametrize("fields", [{"pinned": True}, {"trust": "person"}])
def test_what_a_person_stated_or_pinned_is_never_withheld(careful: Memory, fields: dict[str, Any]) -> None:
    lesson = keep(careful, **fields)
    assert begin(careful, held_back(lesson)).entries
    assert careful.recall(PROMPT).items
    assert not may_withhold(lesson)


def test_who_turned_it_off_is_shown_everything(memory: Memory) -> None:
    assert begin(memory, held_back(keep(memory))).entries
