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


# Whose claim it is, and what answers it


@pytest.mark.parametrize(
    ("fields", "is_refuted"),
    [({}, True), ({"trust": "verified"}, True), ({"trust": "tool"}, True), ({"trust": "repository"}, False),
     ({"trust": "person"}, False), ({"explicit": True}, False)],
)  # fmt: skip
def test_only_what_the_agent_claims_is_dropped(fields: dict[str, object], is_refuted: bool) -> None:
    assert bool(settled(TRAILERS, ("prompt", "that is wrong"), **fields).refuted) is is_refuted  # type: ignore[arg-type]


def claimed(claim: str, window: list[Event], *events: Event) -> Settled:
    """What becomes of a claim that rests on those events of the session."""
    spans = tuple(Evidence(event=event.id, quote=claim, start=0, end=len(claim)) for event in events)
    candidate = Candidate(kind="bug_cause", insight=claim, detector="x/1", evidence=spans, trust="agent")
    return settle([candidate], window)


def test_a_claim_is_one_of_the_sessions_own_replies() -> None:
    denial = event(9, "prompt", "that is wrong")
    reply, prompt = event(0, "reply", TRAILERS), event(1, "prompt", TRAILERS)
    of_sub_agent = make_event(id="e2", kind="reply", text=TRAILERS, trust="agent", agent="sub")
    assert claimed(TRAILERS, [reply, denial], reply).refuted
    assert not claimed(TRAILERS, [prompt, denial], prompt).refuted
    assert not claimed(TRAILERS, [of_sub_agent, denial], of_sub_agent).refuted
    assert not claimed(TRAILERS, [reply, denial], event(5, "reply", TRAILERS)).refuted
    assert not claimed(TRAILERS, [reply, denial]).refuted


def test_a_claim_stands_where_its_first_words_stand() -> None:
    first, denial, second = event(0, "reply", TRAILERS), event(1, "prompt", "that is wrong"), event(2, "reply", "Done.")
    assert claimed(TRAILERS, [first, denial, second], first, second).refuted
    assert not claimed(TRAILERS, [first, denial, second], second, first).refuted


@pytest.mark.parametrize(
    ("behind", "is_refuted"),
    [
        ([("prompt", "go on"), ("prompt", "that is wrong")], False),
        ([("prompt", " "), ("prompt", "that is wrong")], True),
        ([("tool_result", "done"), ("prompt", "that is wrong")], True),
        ([("prompt", "no, \nmerge commits do carry the trailers")], False),
        ([("prompt", "that is wrong\nin every way that I can think of, and I thought about it for long")], False),
        ([("prompt", "that is wrong\nI saw in the main branch that merge commits carry the trailers")], True),
    ],
)
def test_the_first_answer_denies_a_claim_by_its_first_line(behind: list[tuple[str, str]], is_refuted: bool) -> None:
    assert bool(settled(TRAILERS, *behind).refuted) is is_refuted


def test_a_sub_agents_reply_is_no_answer_and_takes_nothing_back() -> None:
    reply = event(0, "reply", CACHE)
    wrong = "I was wrong about `go-git`: the index is read anew for each status."
    of_sub_agent = make_event(id="e1", kind="reply", text=wrong, trust="agent", agent="sub")
    assert not claimed(CACHE, [reply, of_sub_agent], reply).refuted
    assert claimed(CACHE, [reply, of_sub_agent, event(2, "prompt", "that is wrong")], reply).refuted
    assert claimed(CACHE, [reply, event(1, "reply", wrong)], reply).refuted


@pytest.mark.parametrize(
    ("text", "is_refuted"),
    [
        ("I was wrong about the stale status of the index. Done.", True),
        ("The status of the index was stale. I was wrong.", True),
        ("The status of the index was stale. Then I read it. I was wrong.", False),
        ("The status of the index was stale. That was not the cause.", False),
        ("I was wrong about the old car and the red bus.", False),
        ("I was wrong about `go-git` and its stale status.", True),
        ("I was wrong about its stale status.", False),
        ("I was wrong about v1 v2 v3 of it, as of x86_64.", False),
    ],
)
def test_a_retraction_shares_three_telling_words_with_the_claim(text: str, is_refuted: bool) -> None:
    claim = "The root cause is that `go-git` caches the index, so the status of the old red x86_64 car is stale: v1 v2."
    assert bool(settled(claim, ("reply", text)).refuted) is is_refuted


@pytest.mark.parametrize(("words", "is_refuted"), [("tide, dock and rope", True), ("car, bus and van", False)])
def test_a_word_of_four_letters_is_long_enough_to_be_shared(words: str, is_refuted: bool) -> None:
    claim = "The root cause is that the tide of the dock and its rope hit a car, a bus and a van."
    assert bool(settled(claim, ("reply", f"I was wrong about the {words}.")).refuted) is is_refuted


# What is right instead


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (
            "I was wrong about the stale index status. `index_cache` is read anew for each call.",
            "`index_cache` is read anew for each call. Wrong: ",
        ),
        ("I was wrong about the stale index status. Well then. `index_cache` is read anew for each call.", None),
        ("I was wrong about the stale index status. The cache is read anew for each of the calls.", None),
        ("I was wrong about the stale index status. That is why `index_cache` is read anew each time.", None),
        ("I was wrong about the stale index status. I'll read `index_cache` anew for each of the calls.", None),
        ("I was wrong about the stale index status. `index_cache` is read anew.", None),
        (
            "I was wrong about the stale index status \u2014 `index_cache` is read anew each time. `b_c` is not.",
            "`index_cache` is read anew each time. Wrong: ",
        ),
    ],
)
def test_the_correction_is_behind_a_dash_or_the_next_sentence(text: str, right: str | None) -> None:
    after = settled(CACHE, ("reply", text))
    assert len(after.refuted) == 1
    corrections = [candidate.insight for candidate in after.kept]
    assert corrections == ([right + CACHE] if right else [])


def test_a_long_correction_has_a_title_of_a_hundred_characters_and_no_reason_of_the_claim() -> None:
    right = f"`index_cache` is read anew for {'a or b, ' * 12}each call of the status."
    after = settled(CACHE, ("reply", f"I was wrong about the stale index status. {right}"), why="It was stale.")
    [correction] = after.kept
    assert correction.title == f"`index_cache` is read anew for {'a or b, ' * 8}a…"
    assert correction.why == ""
    assert correction.insight.startswith(right.rstrip("."))


# A failure that comes back

MISSING = "The check fails because `logCount` is missing from the dependency list."
ERROR = "Error: dependency list of logCount fails the check"
OTHER = "The real reason: `useEffect` never reads its own body, so biome reports an extra entry."
EDIT = make_event(id="edit", kind="file_edit", files=("a.tsx",), old="[]", new="[logCount]", trust="agent")
READ = make_event(id="read", kind="tool_result", files=("a.tsx",), tool="Read", text="[]", trust="tool")
PASSED = make_event(
    id="passed", kind="tool_result", tool="Bash", command="make check", exit_code=0, text="ok", trust="tool"
)


def reply(n: int, text: str) -> Event:
    return event(n, "reply", text)


def fails(n: int, text: str = ERROR, command: str = "make check") -> Event:
    return make_event(
        id=f"f{n}", kind="tool_failure", tool="Bash", command=command, exit_code=1, text=text, trust="tool"
    )


@pytest.mark.parametrize(
    ("before", "behind", "is_refuted"),
    [
        ([fails(1)], [EDIT, fails(2), reply(3, OTHER)], True),
        ([fails(0, "Error: the port is taken"), fails(1)], [EDIT, fails(2), reply(3, OTHER)], True),
        ([fails(1), fails(0, "Error: the port is taken")], [EDIT, fails(2), reply(3, OTHER)], False),
        ([fails(1), PASSED], [EDIT, fails(2), reply(3, OTHER)], True),
        ([PASSED], [EDIT, fails(2), reply(3, OTHER)], False),
        ([], [EDIT, fails(2), reply(3, OTHER)], False),
        ([fails(1)], [fails(2), reply(3, OTHER)], False),
        ([fails(1)], [READ, fails(2), reply(3, OTHER)], False),
        ([fails(1), EDIT], [fails(2), reply(3, OTHER)], False),
        ([fails(1)], [fails(2), EDIT, reply(3, OTHER)], False),
        ([fails(1)], [EDIT, PASSED, fails(2), reply(3, OTHER)], False),
        ([fails(1)], [EDIT, fails(2, "Error: the port is taken"), reply(3, OTHER)], False),
        ([fails(1)], [EDIT, fails(2, command="make lint"), reply(3, OTHER)], False),
        ([fails(1)], [EDIT, fails(4, command="make lint"), fails(2), reply(3, OTHER)], True),
        ([fails(1)], [EDIT, fails(2)], False),
        ([fails(1)], [EDIT, reply(3, OTHER), fails(2)], False),
        ([fails(1)], [EDIT, fails(2), event(3, "prompt", OTHER)], False),
        ([fails(1)], [EDIT, fails(2), reply(3, "The real reason is that biome reports an extra entry.")], False),
        ([fails(1)], [EDIT, fails(2), reply(3, "Now `useEffect` reads its own body.")], False),
        ([fails(1)], [EDIT, fails(2), reply(3, "The cause: `logCount` is missing in the dependency list.")], False),
        ([fails(1)], [EDIT, *(reply(100 + n, "I look.") for n in range(57)), fails(2), reply(3, OTHER)], False),
        ([fails(1)], [EDIT, *(reply(100 + n, "I look.") for n in range(56)), fails(2), reply(3, OTHER)], True),
    ],
)
def test_a_claimed_cause_is_refuted_when_its_failure_comes_back_after_an_edit_and_another_cause_is_told(
    before: list[Event], behind: list[Event], is_refuted: bool
) -> None:
    claim = reply(50, MISSING)
    assert bool(claimed(MISSING, [*before, claim, *behind], claim).refuted) is is_refuted


@pytest.mark.parametrize(
    ("claim", "error"),
    [
        ("The check wants `logCount` in the dependency list.", ERROR),
        (MISSING, "the dependency list of logCount was looked at by the check"),
        (MISSING, "Error: the port of the harbour is taken"),
    ],
)
def test_a_claim_that_names_no_cause_or_another_failure_is_not_refuted_by_it(claim: str, error: str) -> None:
    statement = reply(50, claim)
    window = [fails(1, error), statement, EDIT, fails(2, error), reply(3, OTHER)]
    assert not claimed(claim, window, statement).refuted
