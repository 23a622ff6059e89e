"""What a session takes back is no lesson; the cases are turns of real sessions."""

from __future__ import annotations

import pytest

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.learning.refutation import Settled, settle
from holdfast.testing.builders import make_event

TRAILERS = "When PRs are merged to main, those merge commits don't carry the `Entire-Checkpoint` trailers."
RESOLVED = "The no-explicit-any warnings in the generated API client were already resolved by `pnpm api:generate`."
CACHE = "The root cause is that `go-git` caches the index, so the status of changed files is stale."


def settled(claim: str, *behind: tuple[str, str], trust: str = "agent", **fields: object) -> Settled:
    """The claim as a reply, with prompts and replies behind it."""
    turns = [("reply", claim), *behind]
    events = [event(n, kind, text) for n, (kind, text) in enumerate(turns)]
    span = Evidence(event=events[0].id, quote=claim, start=0, end=len(claim))
    candidate = Candidate(
        kind="bug_cause",
        insight=claim,
        detector="x/1",
        evidence=(span,),
        trust=trust,
        **fields,  # type: ignore[arg-type]
    )
    return settle([candidate], events)


def event(n: int, kind: str, text: str) -> Event:
    return make_event(id=f"e{n}", kind=kind, text=text, trust="person" if kind == "prompt" else "agent")


@pytest.mark.parametrize(
    ("claim", "behind"),
    [
        (
            TRAILERS,
            ("prompt", "that is wrong, I can also totally see `Entire-Checkpoint:` trailers in the main branch"),
        ),
        (TRAILERS, ("prompt", "No, merge commits do carry the trailers")),
        (
            CACHE,
            ("reply", "The `go-git` change may help, but stale status of the index wasn't the cause of the issues."),
        ),
        (CACHE, ("reply", "I was wrong about `go-git`: the index is read anew for each status.")),
    ],
)
def test_what_is_taken_back_is_dropped(claim: str, behind: tuple[str, str]) -> None:
    after = settled(claim, behind)
    assert [candidate.insight for candidate in after.refuted] == [claim]
    assert claim not in [candidate.insight for candidate in after.kept]


def test_the_correction_takes_the_place_of_the_claim() -> None:
    right = "the warnings are in `apps/api/src/` (backend tests), not the generated API client"
    (correction,) = settled(RESOLVED, ("reply", f"My mistake \u2014 {right}.")).kept
    assert correction.insight == f"T{right[1:]}. Wrong: {RESOLVED}"
    assert [span.quote for span in correction.evidence] == [f"{right}.", RESOLVED]


@pytest.mark.parametrize(
    "behind",
    [
        ("prompt", "no, we removed the session commands on purpose"),
        ("prompt", "looks right, go on"),
        ("prompt", "No error now! But the preview is still not drawn"),
        ("reply", "I was wrong \u2014 my scan missed the escape form of glyphs."),
        ("reply", "The font was not the problem with the badge."),
        ("reply", "Maybe stale status of the index in `go-git` is not the cause?"),
        ("reply", "Wait, let me check the `go-git` status of the index again."),
    ],
)
def test_what_is_about_something_else_leaves_the_claim_alone(behind: tuple[str, str]) -> None:
    assert [candidate.insight for candidate in settled(CACHE, behind).kept] == [CACHE]


def test_an_answer_to_a_later_reply_leaves_the_claim_alone() -> None:
    after = settled(TRAILERS, ("reply", "Shall I push the branch?"), ("prompt", "no, that's wrong"))
    assert not after.refuted


def test_what_a_person_asked_to_remember_is_never_dropped() -> None:
    denial = ("prompt", "that is wrong, merge commits do carry the `Entire-Checkpoint` trailers")
    assert not settled(TRAILERS, denial, explicit=True).refuted
    assert not settled(TRAILERS, denial, trust="person").refuted


def failing(n: int, text: str) -> Event:
    return make_event(
        id=f"e{n}", kind="tool_failure", tool="Bash", command="make check", exit_code=1, text=text, trust="tool"
    )


def test_a_cause_is_dropped_when_the_same_failure_comes_back_after_its_cure() -> None:
    claim = "The check fails because `logCount` is missing from the dependency list."
    error = "Error: dependency list of logCount fails the check"
    window = [
        failing(0, error),
        event(1, "reply", claim),
        make_event(id="e2", kind="file_edit", files=("a.tsx",), old="[]", new="[logCount]"),
        failing(3, error),
        event(4, "reply", "The real reason: `useEffect` never reads its own body, so biome reports an extra entry."),
    ]
    candidate = Candidate(
        kind="bug_cause",
        insight=claim,
        detector="x/1",
        evidence=(Evidence(event=window[1].id, quote=claim, start=0, end=len(claim)),),
    )
    assert settle([candidate], window).refuted == (candidate,)
    assert not settle([candidate], window[:3]).refuted
