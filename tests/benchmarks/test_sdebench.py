"""SDE-bench: what is decisive in a policy, what counts as told, and that talks are played for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.replay.talk import words_told
from benchmarks.sdebench import (
    NOTES,
    Handed,
    Task,
    Told,
    decisive,
    in_order,
    load,
    play,
    score,
    stored_words,
    superseded,
    tokens,
)

OLD = (("user", "Retry failed calls, and cap the backoff at 60 seconds."), ("assistant", "Settled: cap 60 seconds."))
NEW = (
    ("user", "The gateway kills idle calls at 32 seconds, so cap the backoff at 30."),
    ("assistant", "Amended: the backoff caps at 30 seconds, superseding the old 60-second cap."),
)
TASK = Task("backoff", "Calls hang.", "backoff cap 30s (post-amendment)", "net/retry.py", (OLD, NEW))


def missing(policy: str, text: str, talk: str = "") -> list[str]:
    return decisive(policy, talk or policy).missing_in(text)


@pytest.mark.parametrize(
    ("policy", "text", "lacks"),
    [
        ("retry 5xx plus exactly {429,408}; cap 30s", "retry any 5xx, 429 and 408, capped at 30 seconds", []),
        ("retry 5xx plus exactly {429,408}; cap 30s", "retry 5xx and 429, capped at 30", ["408"]),
        ("max 4 attempts over 60s", "Four attempts within 60 seconds", []),
        ("max 4 attempts over 60s", "40 attempts within 60 seconds", ["4"]),
        ("person->persons, index->indexes", "index becomes indexes, person persons", []),
        ("person->persons, index->indexes", "index becomes indexes, person people", ["persons"]),
        ("cancelled ONLY from {pending,on_hold}", "pending and on_hold may be cancelled", []),
        ("memory bare = MiB; disk bare = GB", "a bare number is MiB", ["gb"]),
        ("charge plan['block_fee'] on day_of_month", "block_fee, by the day_of_month", []),
    ],
)
def test_numbers_names_and_sets_of_a_policy_must_be_told(policy: str, text: str, lacks: list[str]) -> None:
    assert missing(policy, text) == lacks


def test_a_policy_without_values_needs_most_of_its_words() -> None:
    policy = "union list values, base order first"
    assert missing(policy, "Lists are a union of the values, in base order.") == []
    assert missing(policy, "Lists are replaced.")


def test_words_in_parentheses_do_not_count_beside_a_value() -> None:
    assert missing("exactly 7 (measured to the rate-limit window)", "at most 7 attempts") == []


def test_what_the_talk_does_not_say_is_not_asked_for() -> None:
    assert missing("cap 30s on every_host", "30", talk="we cap at 30 seconds") == []


def test_what_an_amendment_supersedes_is_read_from_its_words() -> None:
    assert superseded(NEW) == [frozenset({"old", "60", "second", "cap"})]
    assert superseded(OLD) == []


def scored(*own: tuple[str, str]) -> dict[str, object]:
    outcome = Told(own=list(own), lines=10, decoys=1, tokens=300)
    return score([TASK], {"backoff": outcome}, {"backoff-1": "the backoff caps at 30 seconds"})


def test_an_amended_task_needs_the_new_rule_and_not_the_old_one() -> None:
    new, old = ("backoff-1", "Backoff caps at 30 seconds."), ("backoff-0", "Cap the backoff at 60 seconds.")
    name = "amended: the newest rule told and not the superseded one"
    assert scored(new)[name] == {"count": 1, "of": 1, "share": 1.0}
    assert scored(new, old)[name] == {"count": 0, "of": 1, "share": 0.0}
    assert scored(old)["all decisive values told"] == {"count": 0, "of": 1, "share": 0.0}
    assert scored()["a line of the talk told"] == {"count": 0, "of": 1, "share": 0.0}
    assert scored()["all decisive values in lessons of the talk"] == {"count": 1, "of": 1, "share": 1.0}
    assert scored()["lines of decoys"] == {"count": 1, "of": 10, "share": 0.1}


def test_words_belong_to_the_lesson_that_their_line_names_whole_or_by_the_end_of_its_id() -> None:
    ids = ["019b-aaaa1111", "019b-bbbb2222", "019b-cccc3333"]
    text = (
        "Notes.\n- [aaaa1111] Lint first.\n  how: make lint\ntests:\n- Seed the clock [2222 user]\n- [dddd4444] no\n"
        "3333 user: Never push\nface it"
    )
    assert words_told(text, ids) == [
        ("019b-aaaa1111", "- [aaaa1111] Lint first.\n  how: make lint"),
        ("019b-bbbb2222", "- Seed the clock [2222 user]"),
        ("019b-cccc3333", "3333 user: Never push"),
    ]


@pytest.mark.parametrize("line", ["- [12345678] Cap it. (user, 7 Jan)", "12345 user: Cap it.", "- 1234: Cap it."])
def test_an_id_and_a_date_are_no_numbers_that_were_told(line: str) -> None:
    assert not {token for token in tokens(NOTES.sub("", line)) if token[0].isdigit()}


def test_lessons_that_wait_for_a_person_are_not_counted_as_tellable() -> None:
    lesson = {"session": "s", "title": "T", "insight": "I", "why": "", "how": ""}
    assert stored_words([{**lesson, "state": "active"}, {**lesson, "state": "candidate", "insight": "X"}]) == {
        "s": "\nT\nI\n\n"
    }


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    folder = tmp_path / "sdebench"
    folder.mkdir()
    turns = [[{"role": role, "text": text} for role, text in talk] for talk in TASK.talks]
    row = {"task_id": "backoff", "bug_report": TASK.bug, "policy": TASK.policy, "module": TASK.module}
    plain = row | {"task_id": "plain", "conversations": turns[0], "policy": "cap 60s"}
    (folder / "tasks_dev.json").write_text(json.dumps([row | {"conversations": turns}, plain]))
    (folder / "decoys.json").write_text(json.dumps([{"topic": "x", "turns": turns[0][:1]}]))
    return folder


def test_the_amending_talk_comes_after_all_others(data_set: Path) -> None:
    tasks, decoys, _ = load(data_set)
    names = [name for name, _ in in_order(tasks, decoys)]
    assert sorted(names) == ["backoff-0", "backoff-1", "decoy-000", "plain-0"]
    assert names[-1] == "backoff-1"


def test_talks_are_played_and_a_models_words_are_learnt(data_set: Path, tmp_path: Path) -> None:
    tasks, decoys, _ = load(data_set)
    answers, first, second = tmp_path / "answers", tmp_path / "first", tmp_path / "second"
    for folder in (answers, first, second):
        folder.mkdir()
    rule = {
        "lesson": "The backoff caps at 60 seconds.", "kind": "constraint", "line": 0,
        "quote": "cap the backoff at 60 seconds",
    }  # fmt: skip
    asked_first = play(tasks, decoys, first, None, tmp_path / "prompts")
    assert asked_first["complaints"] == {}
    assert sorted(file.stem for file in (tmp_path / "prompts").iterdir()) == ["backoff-0", "decoy-000", "plain-0"]
    assert "cap the backoff at 60 seconds" in (tmp_path / "prompts" / "plain-0.md").read_text()
    (answers / "plain-0.json").write_text(json.dumps({"lessons": [rule]}))
    figures = play(tasks, decoys, second, answers, None)
    assert figures["complaints"] == {}
    assert figures["all decisive values told"]["of"] == 2


def test_the_handed_ids_are_those_of_all_lines_in_order() -> None:
    assert Handed("text", [["a", "b"], ["c"]]).ids == ["a", "b", "c"]
