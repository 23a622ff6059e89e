"""Judging: the review queue, confirmations and flags, conflicts, and what somebody says of a lesson that was told."""

from __future__ import annotations

from typing import Any

from holdfast.client.operations import etag_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Outcome
from holdfast.domain.team import Flag
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.ports.store import LogFilter
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lessons import ONE
from holdfast.surfaces.rest.operations.lists import Paged, records_page
from holdfast.surfaces.rest.table import Op, OpAnswer
from holdfast.team import review
from holdfast.team.review import Judgements

PROJECT = "/projects/{project}"
NOT_OF_A_PROJECT = ("recurs",)
"""Reasons for doubt that tell of other projects, which the caller may not know of."""


class QueueQuery(Paged):
    """How many."""


def list_review(call: OpCall) -> OpAnswer:
    """Return what waits for a reviewer, the most promising first, and what is in doubt."""
    limit = call.asks(QueueQuery).limit
    waiting = [lesson for lesson in call.memory.inbox() if lesson.scope.project == call.project.id]
    in_doubt: list[dict[str, Any]] = []
    for finding in call.memory.audit():
        if finding.lesson.scope.project != call.project.id:
            continue  # the organisation's rules are reviewed in the organisation's own project
        reasons = [(name, words) for name, words in finding.reasons if name not in NOT_OF_A_PROJECT]
        if reasons and len(in_doubt) < limit:
            words = "; ".join(text for _, text in reasons)
            lesson = views.lesson(finding.lesson)
            in_doubt.append({"lesson": lesson, "reason": words, "reasons": [name for name, _ in reasons]})
    flags = review.list_flags(call.desk, limit=limit)
    return OpAnswer(
        value={
            "waiting": [views.lesson(lesson) for lesson in waiting[:limit]],
            "flags": [views.flag(flag) for flag in flags],
            "in_doubt": in_doubt,
            "more": max(0, len(waiting) - limit),
        }
    )


def _decided(call: OpCall, lesson: Lesson, action: str = "", also: tuple[LessonId, ...] = ()) -> OpAnswer:
    """Return the lesson after a decision; those that it closes or replaces are published, too."""
    linked = [link.target for link in lesson.links if link.kind in ("supersedes", "refines")]
    return OpAnswer(
        value=views.lesson(lesson),
        etag=etag_of(lesson),
        changed=(lesson.id, *linked, *also),
        audit=(action, lesson.id) if action else ("", ""),
        details={"project": call.project.id},
    )


def accept_lesson(call: OpCall) -> OpAnswer:
    """Make a waiting lesson active."""
    return _decided(call, review.accept(call.desk, call.changing_lesson().id))


def reject_lesson(call: OpCall) -> OpAnswer:
    """Retire a waiting lesson."""
    return _decided(call, review.reject(call.desk, call.changing_lesson().id))


def keep_lesson(call: OpCall) -> OpAnswer:
    """State that an active lesson in doubt still holds."""
    lesson = call.changing_lesson()
    return _decided(call, call.memory.keep(lesson.id, author=call.caller.name), "lesson.keep")


def put_off_lesson(call: OpCall) -> OpAnswer:
    """Do not show the lesson among those in doubt for a while."""
    return _decided(call, call.memory.put_off(call.changing_lesson().id))


def bring_back_lesson(call: OpCall) -> OpAnswer:
    """List the lesson again among those in doubt, after it was left for later."""
    return _decided(call, call.memory.bring_back(call.changing_lesson().id))


def list_confirmations(call: OpCall) -> OpAnswer:
    """Return who says that the lesson holds."""
    judged = review.judgements(call.desk, call.lesson().id)
    return OpAnswer(value={"items": [views.confirmation(each) for each in judged.confirmations], "next": ""})


def add_confirmation(call: OpCall) -> OpAnswer:
    """Store that the caller says that the lesson holds."""
    return _judged(call, review.confirm(call.desk, call.lesson().id))


def list_flags(call: OpCall) -> OpAnswer:
    """Return who says that the lesson does not hold, and why."""
    judged = review.judgements(call.desk, call.lesson().id)
    return OpAnswer(value={"items": [views.flag(flag) for flag in judged.flags], "next": ""})


def add_flag(call: OpCall) -> OpAnswer:
    """Store that the caller says that the lesson does not hold."""
    body = call.says(models.FlagIn)
    of = call.lesson(body.of).id if body.of else ""
    return _judged(call, review.flag(call.desk, call.lesson().id, body.reason, of=of, note=body.note))


def withdraw(call: OpCall) -> OpAnswer:
    """Take back what the caller body of the lesson."""
    return _judged(call, review.withdraw(call.desk, call.lesson().id))


def _judged(call: OpCall, judged: Judgements) -> OpAnswer:
    lesson = judged.lesson
    changed = (lesson.id, *(link.target for link in lesson.links)) if judged.accepted_by else ()
    return OpAnswer(
        value={
            "lesson": views.lesson(lesson),
            "confirmations": [views.confirmation(each) for each in judged.confirmations],
            "flags": [views.flag(each) for each in judged.flags],
            "accepted_by": judged.accepted_by,
        },
        etag=etag_of(lesson),
        changed=changed,
    )


def list_all_flags(call: OpCall) -> OpAnswer:
    """Return the flags of a project's lessons, in the order of their ids."""

    def read(after: str, limit: int) -> list[Flag]:
        return review.list_flags(call.desk, after=after, limit=limit)

    return records_page(call, read, views.flag)


def list_conflicts(call: OpCall) -> OpAnswer:
    """Return pairs of lessons that cannot hold together, the newest first."""
    limit = call.asks(QueueQuery).limit
    conflicts = [pair for pair in call.memory.conflicts() if call.sees(pair.better) and call.sees(pair.worse)]
    return OpAnswer(value={"items": [views.conflict(pair) for pair in conflicts[:limit]], "next": ""})


def decide_conflict(call: OpCall) -> OpAnswer:
    """Keep one lesson and close those in conflict with it, or keep both."""
    body = call.says(models.Decision)
    keep = call.changing_lesson(body.keep)
    close = [call.changing_lesson(ref) for ref in body.close]
    if body.both:
        if len(close) != 1:
            raise InvalidValueError("both lessons of one conflict: name the other one in `close`")
        kept_lesson = call.memory.keep_both(keep.id, close[0].id, author=call.caller.name)
    else:
        kept_lesson = call.memory.settle(keep.id, [lesson.id for lesson in close], author=call.caller.name)
    return _decided(call, kept_lesson, "conflict.settle", tuple(lesson.id for lesson in close))


class OutcomesQuery(Paged):
    """Of which lesson or session."""

    lesson: str = ""
    session: str = ""


def list_outcomes(call: OpCall) -> OpAnswer:
    """Return what followed where lessons were told, newest first."""
    query = call.asks(OutcomesQuery)
    lesson = call.lesson(query.lesson).id if query.lesson else LessonId("")
    where = LogFilter(
        project=call.memory.location.project.id, session=SessionId(query.session), lesson=lesson, limit=query.limit
    )
    outcomes = call.stores.store.find_records(Outcome, where)
    return OpAnswer(value={"items": [views.whole(outcome) for outcome in outcomes], "next": ""})


def list_deliveries(call: OpCall) -> OpAnswer:
    """Return which lessons were told, when and why, newest first."""
    query = call.asks(OutcomesQuery)
    lesson = call.lesson(query.lesson).id if query.lesson else ""
    deliveries = call.memory.log(session=query.session, lesson=lesson, limit=query.limit)
    return OpAnswer(value={"items": [views.whole(delivery) for delivery in deliveries], "next": ""})


def add_outcome(call: OpCall) -> OpAnswer:
    """Store what somebody says of a lesson that was told."""
    body = call.says(models.OutcomeIn)
    lesson = call.lesson(body.lesson)
    outcome = call.memory.feedback(
        lesson.id, body.verdict, body.note, SessionId(body.session), judge="" if call.caller.member else "agent"
    )
    return OpAnswer(value=views.whole(outcome))


OPERATIONS = (
    Op(
        method="GET", path=PROJECT + "/review", name="list_review", verb="review", call=list_review, query=QueueQuery,
        summary="List what waits for a reviewer, what is flagged and what is in doubt.", out=models.ReviewView,
    ),
    Op(
        method="POST", path=ONE + "/accept", name="accept_lesson", verb="review", call=accept_lesson,
        summary="Accept a lesson that waits.", out=models.LessonView, match="optional", idempotent=True,
        notes="Accepting a revision closes the lesson that it revises.",
    ),
    Op(
        method="POST", path=ONE + "/reject", name="reject_lesson", verb="review", call=reject_lesson,
        summary="Reject a lesson that waits.", out=models.LessonView, match="optional", idempotent=True,
    ),
    Op(
        method="POST", path=ONE + "/keep", name="keep_lesson", verb="review", call=keep_lesson,
        summary="State that a lesson in doubt still holds.", out=models.LessonView, match="optional", idempotent=True,
    ),
    Op(
        method="POST", path=ONE + "/later", name="put_off_lesson", verb="review", call=put_off_lesson,
        summary="Do not list a lesson among those in doubt for 7 days.", out=models.LessonView, match="optional",
    ),
    Op(
        method="DELETE", path=ONE + "/later", name="bring_back_lesson", verb="review", call=bring_back_lesson,
        summary="List a lesson again that was left for later.", out=models.LessonView, match="optional",
    ),
    Op(
        method="GET", path=ONE + "/confirmations", name="list_confirmations", verb="read", call=list_confirmations,
        summary="List who says that a lesson holds.", out=models.Listing[models.ConfirmationView],
    ),
    Op(
        method="POST", path=ONE + "/confirmations", name="add_confirmation", verb="judge", call=add_confirmation,
        summary="Say that a lesson holds.", out=models.JudgementsView, idempotent=True,
        notes="Once a member. A flag of the same member is taken back. The team's rules may accept the lesson by it.",
    ),
    Op(
        method="DELETE", path=ONE + "/confirmations", name="withdraw", verb="judge", call=withdraw,
        summary="Take back what you body of a lesson, for or against it.", out=models.JudgementsView,
    ),
    Op(
        method="GET", path=ONE + "/flags", name="list_flags", verb="read", call=list_flags,
        summary="List who says that a lesson does not hold, and why.", out=models.Listing[models.FlagView],
    ),
    Op(
        method="POST", path=ONE + "/flags", name="add_flag", verb="judge", call=add_flag, body=models.FlagIn,
        summary="Flag a lesson as stale, incorrect or a duplicate.", out=models.JudgementsView, idempotent=True,
        notes="Once a member; a second flag replaces the first. It changes nothing by itself: reviewers see it.",
    ),
    Op(
        method="GET", path=PROJECT + "/flags", name="list_all_flags", verb="review", call=list_all_flags, query=Paged,
        summary="List the flags of a project's lessons.", out=models.Listing[models.FlagView],
    ),
    Op(
        method="GET", path=PROJECT + "/conflicts", name="list_conflicts", verb="read", call=list_conflicts,
        query=QueueQuery, summary="List pairs of lessons that cannot hold together.",
        out=models.Listing[models.ConflictView],
    ),
    Op(
        method="POST", path=PROJECT + "/conflicts", name="decide_conflict", verb="review", call=decide_conflict,
        body=models.Decision, summary="Decide a conflict: one lesson closes the others, or both hold.",
        out=models.LessonView, idempotent=True,
    ),
    Op(
        method="GET", path=PROJECT + "/outcomes", name="list_outcomes", verb="read", call=list_outcomes,
        query=OutcomesQuery, summary="List what followed where lessons were told, newest first.",
        out=models.Listing[models.OutcomeView],
    ),
    Op(
        method="GET", path=PROJECT + "/deliveries", name="list_deliveries", verb="read", call=list_deliveries,
        query=OutcomesQuery, summary="List which lessons were told, when and why, newest first.",
        out=models.Listing[models.DeliveryView],
    ),
    Op(
        method="POST", path=PROJECT + "/outcomes", name="add_outcome", verb="write", call=add_outcome,
        body=models.OutcomeIn, summary="Say whether a lesson that was told helped.", out=models.OutcomeView,
        status=201, idempotent=True,
    ),
)  # fmt: skip
