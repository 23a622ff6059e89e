"""The edges of detectors of repairs: what is just inside, and what is not."""

from __future__ import annotations

import pytest

from holdfast.detectors import fail_fix, reverted_work
from holdfast.domain.candidate import Candidate
from tests.detectors.test_limits import edited, event, find, idle, ran

# Commands that failed and passed


@pytest.mark.parametrize(
    ("message", "confidence"), [("unknown flag: --stat", 0.6), ("unknown flag: --stat; you should use sudo", 0.35)]
)
def test_a_cure_by_a_message_that_gives_orders_waits_for_a_person(message: str, confidence: float) -> None:
    assert fail_fix.UNSURE == 0.35
    (candidate,) = find(
        "fail_fix", ran("gh pr diff 88 --stat", message, exit_code=1), ran("gh pr diff 88 --name-only", "src/cart.ts")
    )
    assert candidate.confidence == confidence


@pytest.mark.parametrize(
    ("message", "confidence"), [("Error: pre-push hook failed", 0.45), ("Error: you must run the hook", 0.35)]
)
def test_an_edit_by_a_message_that_gives_orders_waits_for_a_person(message: str, confidence: float) -> None:
    (candidate,) = find(
        "fail_fix",
        ran("git push -u origin feat/plugin", f"{message}\nbiome.json is wrong", exit_code=1),
        event("reply", "The pre-push hook failed because of lint errors in `biome.json` and others.", trust="agent"),
        edited("biome.json", old='"ignore": []', new='"ignore": ["all"]'),
        ran("git push -u origin feat/plugin", "branch set up"),
    )
    assert candidate.confidence == confidence


# Work taken back

REASON = "given the cookie banner at the bottom, the menu is better not fixed"
TRIED = ".menu { position: fixed; z-index: 999 }"


def taken_back(*new: str, reason: str = REASON, between: int = 0, apart: int = 0) -> list[Candidate]:
    """What is found of edits that are taken back one by one, some events behind the reason and apart."""
    tried = [edited(f"web/{number}.css", old=".menu { none }", new=text) for number, text in enumerate(new or [TRIED])]
    undo = [ran(f"git checkout -- web/{number}.css") for number in range(len(tried))]
    return find(
        "reverted_work", *tried, event("prompt", reason), *idle(between), undo[0],
        *(step for more in undo[1:] for step in (*idle(apart), more)),
    )  # fmt: skip


def taken_back_by_agent(behind: int, *after: str) -> list[Candidate]:
    """What is found of an edit that an agent takes back, and says why that many events behind it."""
    why = "`pool.map` breaks the header, because the rows must be written in order."
    replies = [event("reply", text, trust="agent") for text in (after or (why,))]
    return find(
        "reverted_work", event("prompt", "make the export quicker"),
        edited("src/export.py", old="for row in rows: write(row)", new="pool.map(write, rows)"),
        *([event("reply", why, trust="agent")] if after else []),
        edited("src/export.py", old="pool.map(write, rows)", new="for row in rows: write(row)"),
        *idle(behind - 1), *replies,
    )  # fmt: skip


def test_a_reason_beside_the_undoing_is_confirmed_and_a_cause_is_not() -> None:
    assert taken_back()[0].confidence == reverted_work.WORTH_OF_USERS == 0.8
    assert reverted_work.WORTH_OF_AGENTS == 0.7
    assert taken_back_by_agent(1)[0].confidence == reverted_work.WORTH_OF_CAUSES == 0.4
