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
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Outcome
from holdfast.domain.statefamilies import OUTCOME_WEIGHTS
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.outcomes.advice import advice_of
from holdfast.outcomes.holdout import is_withheld
from holdfast.outcomes.standing import standing_of
from holdfast.outcomes.weighing import factor_of, factors_of, render_weights, shift_of, weights_of
from holdfast.outcomes.weights import NO_WEIGHTS, OutcomeWeights, load_weights
from holdfast.ports.store import LogFilter
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


def test_commands_files_and_tests_are_told_apart_from_names() -> None:
    words = "Run `mise run test:ci`, not `mise run test`; docs/guide.md says why. Add a test with every fix."
    advice = advice_of(make_lesson(insight=words, path="src/tides.py"))
    assert advice.commands == ("mise run test:ci",)
    assert advice.denied_commands == ("mise run test",)
    assert advice.files == ("src/tides.py", "docs/guide.md")
    assert advice.wants_tests
    assert advice.is_order


# Standing


@pytest.mark.parametrize(
    ("fields", "verdicts", "becomes"),
    [
        ({"state": "probation"}, ["heeded"], None),
        ({"state": "probation"}, ["heeded", "heeded"], "active"),
        ({"state": "probation"}, ["heeded", "overridden", "heeded"], None),
        ({}, ["overridden"], None),
        ({}, ["overridden", "overridden"], "retired"),
        ({}, ["heeded", "heeded", "overridden", "overridden"], None),
        ({}, ["ignored"] * 4, None),
        ({}, ["ignored"] * 5, "retired"),
        ({}, ["ignored"] * 4 + ["heeded", "ignored"], None),
        ({}, ["ignored", "unclear", "failed"] * 4, None),
        ({"trust": "person"}, ["ignored"] * 9, None),
        ({"pinned": True}, ["overridden"] * 9, None),
        ({"state": "retired"}, ["heeded"] * 9, None),
        ({}, ["missed"] * 9, None),
    ],
)
def test_outcomes_move_a_lesson_at_their_bounds(fields: dict[str, Any], verdicts: list[str], becomes: str) -> None:
    assert standing_of(make_lesson(**fields), made(*verdicts)).becomes == becomes


def test_what_a_person_states_outweighs_what_is_inferred() -> None:
    harmed = made("heeded", "heeded") + made("hurt", judge="")
    assert standing_of(make_lesson(), harmed).becomes == "retired"
    assert standing_of(make_lesson(), made("heeded") * 2 + made("hurt", judge="agent")).becomes is None


def test_withheld_outcomes_and_those_before_a_persons_say_do_not_count() -> None:
    lesson = make_lesson()
    assert standing_of(lesson, made("overridden", "overridden", withheld=True)).becomes is None
    assert standing_of(lesson, made("overridden", "overridden"), since=START + timedelta(hours=1)).becomes is None


@given(st.lists(st.sampled_from(["heeded", "ignored", "overridden", "failed", "unclear"]), max_size=12), st.randoms())
def test_the_order_in_which_outcomes_are_read_does_not_matter(verdicts: list[str], rnd: Any) -> None:
    lesson, outcomes = make_lesson(), made(*verdicts)
    before = standing_of(lesson, outcomes)
    rnd.shuffle(outcomes)
    assert standing_of(lesson, outcomes) == before


# Weights


@pytest.mark.parametrize(
    ("verdicts", "factor"),
    [
        (["heeded"] * 3, 2.0), (["ignored"] * 3, 0.5), (["heeded", "ignored", "ignored"], 1.2),
        (["missed"] * 9, 2.0), (["overridden"] * 99, 0.5),
    ],
)  # fmt: skip
def test_a_factor_stays_within_a_half_and_two(verdicts: list[str], factor: float) -> None:
    assert factor_of(made(*verdicts)) == factor


def test_one_need_or_two_move_no_factor() -> None:
    assert factors_of(made("heeded", "missed")) == {}
    assert weights_of(made("heeded", "missed")) == NO_WEIGHTS


def test_a_factor_is_of_the_moment_and_kind_of_work_that_it_was_learnt_at() -> None:
    outcomes = made("heeded", "heeded", "heeded", moment="prompt", work="fix") + made(
        "ignored", "ignored", "ignored", "ignored", "ignored", moment="before_file", work="fix"
    )
    weights = weights_of(outcomes)
    lesson = outcomes[0].lesson
    assert weights.factor(lesson, "prompt", "fix") == 2.0
    assert weights.factor(lesson, "prompt", "test") == 2.0
    assert weights.factor(lesson, "before_file", "fix") == 0.5
    assert weights.factor(lesson, "after_failure") == 1.5
    assert weights.factor(LessonId("other"), "prompt") == 1.0


def test_a_projects_threshold_shifts_by_a_tenth_at_most() -> None:
    assert shift_of(made(*["ignored"] * 19)) == 1.0
    assert shift_of(made(*["ignored"] * 20)) == 1.1
    assert shift_of(made(*["missed"] * 40)) == 0.9
    assert OutcomeWeights(lessons={}, shifts={"prompt": 7.0}).shift("prompt") == 1.1


def test_weights_come_back_as_they_were_kept_and_a_damaged_mark_is_none(memory: Memory) -> None:
    store, project = memory.services.store, memory.location.project.id
    weights = weights_of(made(*["heeded"] * 20, moment="prompt"))
    store.set_state(OUTCOME_WEIGHTS, project, render_weights(weights))
    assert load_weights(store, project) == weights
    for damaged in ("{", "[]", '{"lessons": {"a": 1}, "shifts": {}}', '{"lessons": {}}'):
        store.set_state(OUTCOME_WEIGHTS, project, damaged)
        assert load_weights(store, project) == NO_WEIGHTS


def ranked(score: float, retriever: str = "text", raw: float = 0.5) -> Ranked:
    why = Why(shares=(RetrieverShare(lane=retriever, rank=1, raw=raw, share=score),))
    return Ranked(lesson=make_lesson(), rank=1, score=score, why=why)


def test_a_factor_reorders_and_is_told_among_the_multipliers_but_buries_no_exact_match() -> None:
    low, high, exact = ranked(0.3), ranked(0.5), ranked(0.1, "exact", 1.0)
    weights = OutcomeWeights(lessons={low.lesson.id: {"prompt": 2.0}}, shifts={})
    order = [pair[0] for pair in weights.rank([(exact, 0), (high, 0), (low, 0)], "prompt")]
    assert [item.lesson.id for item in order] == [exact.lesson.id, low.lesson.id, high.lesson.id]
    assert order[1].why.multipliers == (("outcome", 2.0),)
    assert order[1].score == 0.6


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
    lesson = make_lesson(project=memory.location.project.id, insight=QUEUE, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def ask(memory: Memory, session: str) -> Briefing:
    call = HookCall(
        host="claude-code", name="UserPromptSubmit", session=SessionId(session), cwd=memory.folder, moment="prompt",
        prompt=PROMPT,
    )  # fmt: skip
    return memory.inject(call)


def held_back(memory: Memory, lesson: Lesson) -> str:
    """A session from which the lesson is withheld at the share of the memory."""
    share = memory.services.holdout
    return next(f"s{n}" for n in range(10_000) if is_withheld(SessionId(f"s{n}"), lesson.id, share))


@pytest.fixture
def careful(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The memory with its usual hold-out."""
    monkeypatch.setenv("HOLDFAST_HOLDOUT", "0.05")
    with Memory(memory.folder) as opened:
        yield opened


def test_a_withheld_lesson_is_not_told_and_logged_once_however_often_it_would_be(careful: Memory) -> None:
    lesson = keep(careful)
    session = held_back(careful, lesson)
    assert [ask(careful, session).text, ask(careful, session).text] == ["", ""]
    assert careful.log() == []
    (outcome,) = careful.services.store.find_records(Outcome, LogFilter(lesson=lesson.id))
    assert (outcome.verdict, outcome.session, outcome.moment, outcome.withheld) == ("withheld", session, "prompt", True)
    assert outcome.trigger == PROMPT


def test_a_pinned_lesson_and_one_that_is_asked_for_are_never_withheld(careful: Memory) -> None:
    lesson = keep(careful, pinned=True)
    assert ask(careful, held_back(careful, lesson)).items
    assert careful.recall(PROMPT).items


def test_who_turned_it_off_is_told_everything(memory: Memory) -> None:
    lesson = keep(memory)
    share = 0.05
    session = next(f"s{n}" for n in range(10_000) if is_withheld(SessionId(f"s{n}"), lesson.id, share))
    assert ask(memory, session).items
