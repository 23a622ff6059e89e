"""Review: what waits for a person's verdict, one row each, with everything that the verdict needs beside its keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.client.client import Client
from holdfast.pages.page import Page, PageRow
from holdfast.pages.reviewkept import KeptQueue, queue_for
from holdfast.pages.view import View
from holdfast.reports.reviewqueue import REVIEW_KINDS, QueueItem, ReviewItem, ReviewKind, grouped, look_at
from holdfast.upkeep.tidying.offers import look_at_offers
from holdfast.upkeep.tidying.proposal import Step

ROWS = 8
"""Rows of a page; the script fetches the next ones before the list runs out."""
LOOKED_AT = 45
"""Items that are read at a time: some of them may be decided already."""
LOOKED_AT_MOST = 450
"""Items that are read for one page."""
CODE_S = 0.04
"""Seconds that a page which nobody waits for longer takes to look for changed code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQuery:
    """What of the queue is shown, and in which order."""

    kind: Literal["", "contradiction", "flag", "stale", "doubt", "tidy", "waiting"] = ""
    group: Literal["", "kind", "area", "session"] = ""
    after: str = ""
    """The key of the item behind which to go on."""
    wait: bool = False
    """Compare the memory anew if its comparison is old or missing, and look for all changed code: takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictButton:
    """A decision that a person can take about a row: the form of one button."""

    action: str
    label: str
    key: str
    meaning: str
    """What it does, in words."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    lesson: int = -1
    """The position of the lesson that it is about, where a row has several."""
    tone: str = ""
    """`main` or `danger`."""
    closes: tuple[str, ...] = ()
    """Lessons that it takes out of use: other rows about them have nothing to decide any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """An item of the queue, the verdicts on it, and the group that it is in."""

    item: ReviewItem
    verdicts: tuple[VerdictButton, ...]
    group: str = ""
    verb: str = ""
    """Of a proposed tidying: merge, retitle or retire."""
    confirmations: int = 0
    """Of what waits on a team's server: how many members say that it holds."""
    needed: int = 0
    """How many have to say so for it to be confirmed; 0: a reviewer has to accept it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """How many items of one kind wait."""

    kind: ReviewKind
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewData:
    """What the page says."""

    rows: tuple[ReviewRow, ...]
    kinds: tuple[KindCount, ...]
    waiting: int
    """How many items wait in all, of the chosen kind."""
    every: int
    kind: str
    group: str
    next: str
    """The key behind which the next page begins; empty on the last one."""
    is_compared: bool
    """Whether the whole memory was compared; otherwise only unconfirmed lessons are listed."""
    is_old: bool
    """Whether that comparison is old enough to be made anew."""
    is_partial: bool
    """Whether there was no time to look for all changed code."""


def make_review(view: View, query: ReviewQuery) -> Page:
    """Return the page of what waits."""
    queue = queue_for(view, wait=query.wait)
    every = queue.open_items(view)
    items = [item for item in grouped(every, query.group) if query.kind in ("", item.kind)]
    keys = [item.key for item in items]
    start = keys.index(query.after) + 1 if query.after in keys else 0
    looks, end = _look(view, queue, items[start:], wait=query.wait)
    counts = Counter(item.kind for item in every)
    needed = _needed(view)
    return Page(
        template="review",
        data=ReviewData(
            rows=tuple(_row(view, queue, look, query.group, needed) for look in looks),
            kinds=tuple(KindCount(kind=kind, count=counts[kind]) for kind in REVIEW_KINDS if counts[kind]),
            waiting=len(items), every=len(every), kind=query.kind, group=query.group,
            next=keys[start + end - 1] if end and start + end < len(keys) else "",
            is_compared=queue.is_compared, is_old=queue.is_old(view),
            is_partial=any(lesson.is_code_unread for look in looks for lesson in look.lessons),
        ),
    )  # fmt: skip


def _look(view: View, queue: KeptQueue, items: Sequence[QueueItem], *, wait: bool) -> tuple[list[ReviewItem], int]:
    """Return the first items that still wait, and how many items were read to find them."""
    looks: list[ReviewItem] = []
    end = 0
    while end < min(len(items), LOOKED_AT_MOST) and len(looks) < ROWS:
        part = items[end : end + (ROWS if not end else LOOKED_AT)]
        seen = _look_at(view, queue, part, wait=wait)
        for item in part:
            end += 1
            looks += [seen[item.key]] if item.key in seen else []
            if len(looks) == ROWS:
                break
        if view.may("review"):  # another member may see what this one does not
            queue.settle(view, [item for item in part if item.key not in seen])
    return looks, end


def _look_at(view: View, queue: KeptQueue, items: Sequence[QueueItem], *, wait: bool) -> dict[str, ReviewItem]:
    memory = view.memory
    named = {} if wait else {"code_s": CODE_S}
    looks = {look.key: look for look in look_at(memory.services, memory.location, items, sees=view.sees, **named)}
    offers = [queue.offers[item.key] for item in items if item.kind == "tidy"]
    return looks | look_at_offers(memory.services, memory.location, offers, sees=view.sees) if offers else looks


def _row(view: View, queue: KeptQueue, look: ReviewItem, group: str, needed: int) -> ReviewRow:
    step = queue.offers[look.key].step if look.kind == "tidy" else None
    groups = {"kind": str(look.kind), "area": look.area, "session": look.session}
    confirmations = 0
    if needed and look.kind == "waiting" and isinstance(view.door, Client):
        confirmations = len(view.door.confirmations(look.lessons[0].id))
    return ReviewRow(
        confirmations=confirmations, needed=needed if look.kind == "waiting" else 0,
        item=look, verdicts=tuple(verdicts_on(view, look, step)), group=groups.get(group, ""),
        verb=step.verb if step else "",
    )  # fmt: skip


def _needed(view: View) -> int:
    """Return how many members confirm a lesson by the rules of the project; 0: reviewers do."""
    if not isinstance(view.door, Client):
        return 0
    rules = view.door.project().rules or view.door.organisation().rules
    return rules.confirmations


# Decisions


ACCEPT = "It becomes confirmed: sessions are told it."
REJECT = "It is retired: no session is told it, and it is not proposed again."
KEEP_ONE = "This one is confirmed, and the other one is closed: no session is told that one any more."
KEEP_BOTH = "Both hold, for example in different cases. They are not shown as a contradiction again."
HOLDS = "It stays confirmed, for the code as it is now. It is not listed for 90 days, unless it changes."
RETIRE = "It is retired: no session is told it any more. Its history stays."
LATER = "Nothing changes. It is not listed for 7 days."
REFUSE = "Nothing changes, and this is not proposed again while the lessons say the same."
APPLIED = {
    "merge": "The lessons that it replaces are closed. The one that stays takes over their places and evidence.",
    "retitle": "It is told under the new title.",
    "retire": RETIRE,
}


def verdicts_on(view: View, look: ReviewItem, step: Step | None = None) -> Iterator[VerdictButton]:
    """Yield the verdicts that the reader may give on the item."""
    if view.may("review"):
        yield from _reviewers(look, step)
    elif view.may("judge") and look.kind == "waiting":
        yield from _members(look, is_own=look.lessons[0].person == view.person.name)


def _reviewers(look: ReviewItem, step: Step | None) -> Iterator[VerdictButton]:
    first = {"lesson": look.lessons[0].id}
    match look.kind:
        case "contradiction":
            yield from _on_contradiction(look)
        case "waiting":
            meaning = f"It becomes confirmed and replaces {look.replaces}." if look.replaces else ACCEPT
            yield VerdictButton(
                action="accept", label="Accept", key="a", meaning=meaning, parameters=first, tone="main",
                closes=(look.replaced,) if look.replaced else (),
            )  # fmt: skip
            yield VerdictButton(action="reject", label="Reject", key="x", meaning=REJECT, parameters=first)
        case "tidy" if step is not None:
            fields = step_fields(step)
            meaning = APPLIED[step.verb]
            yield VerdictButton(
                action="apply-step", label="Apply", key="a", meaning=meaning, fields=fields, tone="main"
            )
            yield VerdictButton(action="refuse-step", label="Refuse", key="x", meaning=REFUSE, fields=fields)
        case _:
            yield VerdictButton(
                action="keep", label="Still holds", key="a", meaning=HOLDS, parameters=first, tone="main"
            )
            yield VerdictButton(
                action="retire", label="Retire", key="x", meaning=RETIRE, parameters=first, closes=(look.lessons[0].id,)
            )
            yield VerdictButton(action="later", label="Later", key="s", meaning=LATER, parameters=first)


def _on_contradiction(look: ReviewItem) -> Iterator[VerdictButton]:
    first, second = (lesson.id for lesson in look.lessons)
    for position, (stays, goes) in enumerate(((first, second), (second, first))):
        yield VerdictButton(
            action="settle", label="Keep this one", key=str(position + 1), meaning=KEEP_ONE,
            fields={"lesson": stays, "over": goes}, lesson=position, closes=(goes,),
        )  # fmt: skip
    yield VerdictButton(
        action="keep-both", label="Keep both", key="b", meaning=KEEP_BOTH, fields={"lesson": first, "other": second}
    )


def _members(look: ReviewItem, *, is_own: bool) -> Iterator[VerdictButton]:
    """Yield what a member may say of a proposal. Who proposed it cannot confirm it."""
    first = {"lesson": look.lessons[0].id}
    holds, wrong = (
        "You say that it holds. A rule of the team may confirm it by that.",
        "Reviewers see that you doubt it.",
    )
    if not is_own:
        yield VerdictButton(action="confirm", label="Confirm", key="a", meaning=holds, parameters=first, tone="main")
    yield VerdictButton(
        action="flag", label="Flag as incorrect", key="x", meaning=wrong, parameters=first,
        fields={"reason": "incorrect"},
    )  # fmt: skip


def step_fields(step: Step) -> dict[str, str]:
    """Return the step as fields of a form."""
    texts = {
        "verb": step.verb, "lesson": step.lesson, "replaces": ",".join(step.replaces), "title": step.title,
        "by": step.by, "words": ",".join(step.words),
    }  # fmt: skip
    return {name: text for name, text in texts.items() if text}


PAGES = (PageRow(path="/p/{project}/review", name="review", title="Review", make=make_review, query=ReviewQuery),)
