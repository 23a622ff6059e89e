"""The ten everyday rules: they are played for real, and what was stored and told is read from the product."""

from __future__ import annotations

from pathlib import Path

from benchmarks.everyday import RULES, Rule, holds, measure, table

NEVER_LOGGED = Rule("remember: the customer id is never logged", ("customer", "log"), "add logging", command="make log")


def lesson(insight: str, state: str = "active") -> dict[str, object]:
    return {"title": "", "insight": insight, "how": "", "quote": [], "state": state}


def test_a_lesson_is_a_rules_own_when_it_has_all_its_words() -> None:
    assert holds(NEVER_LOGGED, lesson("Never log the customer id."))
    assert not holds(NEVER_LOGGED, lesson("Never log passwords."))
    assert not holds(NEVER_LOGGED, lesson("Never log the customer id.", "forgotten"))


def test_there_are_ten_rules_and_each_has_a_call_that_it_fits() -> None:
    assert len(RULES) == 10
    assert all(rule.command or rule.file for rule in RULES)


def test_rules_are_typed_in_one_session_and_looked_for_in_the_next(tmp_path: Path) -> None:
    never = Rule("never add new dependencies without asking me", ("dependenc",), "parse dates", command="make")
    nothing = Rule("thanks", ("gratitude",), "go on", file="src/checkout.py")
    figures = measure((never, nothing), tmp_path)
    stored, absent = figures["rules"]
    assert figures["complaints"] == {}
    assert (stored["stored"], stored["told at"]) == ("active", "start")
    assert "dependencies" in stored["words"]
    assert (absent["stored"], absent["told at"], absent["words"]) == ("no", "never", "")
    assert (figures["stored"], figures["told"]) == (1, 1)
    assert table(figures).startswith("stored 1 of 2, told 1")
