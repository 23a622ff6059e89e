"""Review: when a proposed lesson reaches the others, and what members say of lessons.

What a writer states is a candidate: nobody is told of it until a reviewer accepts it, or until a rule of the team is
met: so many members other than its proposer have confirmed it, or an owner of every path that it is about has, by the
project's CODEOWNERS. What an owner proposes is confirmed by that. Confirming and flagging is open to every reader, once
a member a lesson; a member's confirmation takes the place of their flag, and a flag that of their confirmation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from holdfast.curation import review as curation
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import ORGANISATION, Location
from holdfast.domain.team import (
    FLAG_REASONS,
    Confirmation,
    Flag,
    FlagReason,
    IdempotentAnswer,
    Member,
    MemberId,
    ProposedLesson,
    ReviewRules,
    Team,
    TeamCaller,
    TeamProject,
)
from holdfast.domain.vocabulary import LIVING, LessonId, ProjectId
from holdfast.errors import ForbiddenError, IllegalTransitionError, InvalidValueError, NotFoundError
from holdfast.lean.texts import short_id
from holdfast.lessons.lookup import resolve
from holdfast.ports.services import Services
from holdfast.ports.team import TeamServices, TeamStores
from holdfast.team.access import organisation_of, require
from holdfast.team.audit import record, record_all
from holdfast.team.codeowners import owners_of
from holdfast.team.names import checked_note
from holdfast.team.quotas import spend

WAITS = "a reviewer, or a rule of the team, has to confirm it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """What members say of a lesson."""

    lesson: Lesson
    """As it is now."""
    confirmations: tuple[Confirmation, ...] = ()
    flags: tuple[Flag, ...] = ()
    accepted_by: str = ""
    """What made it active just now: `reviewer`, `owner` or `confirmations`; empty: nothing did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What review works with for one caller in one project. `services.store` is the store of `team.stores`."""

    team: TeamServices
    services: Services
    location: Location
    caller: TeamCaller
    project: TeamProject


def must_wait(stores: TeamStores, caller: TeamCaller, project: TeamProject) -> Callable[[Lesson], str]:
    """Return the function for `Services.must_wait`: it says why a lesson that the caller states now has to wait."""
    if caller.may("review"):
        return lambda lesson: ""
    if not rules_of(stores, project).owners:
        return lambda lesson: WAITS
    return lambda lesson: "" if owns(stores, project, caller.member, lesson) else WAITS


def rules_of(stores: TeamStores, project: TeamProject) -> ReviewRules:
    """Return the project's rules, which are the organisation's unless it has its own."""
    return project.rules or organisation_of(stores).rules


def owns(stores: TeamStores, project: TeamProject, member_id: MemberId, lesson: Lesson) -> bool:
    """Return whether the member owns every path that the lesson is about, at least one, by CODEOWNERS.

    Globs count as paths of their own. A lesson about no file has no owner.
    """
    paths = (*lesson.paths, *lesson.globs)
    names = _names_of(stores, member_id) if member_id and project.codeowners and paths else frozenset()
    return bool(names) and all(not names.isdisjoint(owners_of(project.codeowners, path)) for path in paths)


def _names_of(stores: TeamStores, member_id: MemberId) -> frozenset[str]:
    """Return the names by which CODEOWNERS may mean the member; none for an unknown one."""
    member = stores.records.get(Member, member_id)
    if member is None:
        return frozenset()
    return frozenset((member.email, *member.handles, *(team.handle for team in _teams(stores, member_id)))) - {""}


def note_saved(team: TeamServices, caller: TeamCaller, project: TeamProject, lessons: Sequence[Lesson]) -> None:
    """Store who brought each lesson that is new on the server, and count it.

    Call it inside the `changing` in which the lessons were saved. Raises QuotaExceededError.
    """
    now, named = team.clock.now(), ProjectId(project.id)
    new = team.stores.records.add_missing(
        [ProposedLesson(id=lesson.id, at=now, project=named, actor=caller.actor) for lesson in lessons]
    )
    if new:
        spend(team, "lessons", len(new))
        states = {lesson.id: lesson.state for lesson in lessons}
        proposals = [(id_, {"project": named, "state": states[LessonId(id_)]}) for id_ in new]
        record_all(team, caller.actor, "lesson.propose", proposals)


def sees(stores: TeamStores, caller: TeamCaller, project: TeamProject, lesson: Lesson) -> bool:
    """Return whether the caller, who sees the project, may read the lesson in it: one of its own or the organisation's.

    A lesson that waits is for reviewers and its proposer. A candidate is also for those whose word counts by the
    team's rules: every member where confirmations are counted, and the owners of its paths where these decide. Recall
    and briefs give candidates to nobody.
    """
    if lesson.scope.project not in (project.id, ORGANISATION):
        return False  # a whole id finds lessons of every project
    if lesson.state not in curation.WAITING or caller.may("review"):
        return True
    proposed = stores.records.get(ProposedLesson, lesson.id)
    if proposed is not None and proposed.actor == caller.actor:
        return True
    if lesson.state != "candidate" or not caller.member:
        return False
    rules = rules_of(stores, project)
    return rules.confirmations > 0 or (rules.owners and owns(stores, project, caller.member, lesson))


def sight_of(stores: TeamStores, caller: TeamCaller, project: TeamProject) -> Hashable:
    """Return what `sees` asks of the caller and the team: while it is equal, the same lessons are seen in the project.

    Who proposed a lesson is stored with the lesson, so it changes only when lessons change.
    """
    if caller.may("review"):
        return "every lesson"
    rules = rules_of(stores, project)
    names = _names_of(stores, caller.member) if rules.owners and caller.member and project.codeowners else frozenset()
    return caller.actor, caller.member, rules.confirmations > 0, names, project.codeowners if names else ""


def require_sight(stores: TeamStores, caller: TeamCaller, project: TeamProject, lesson: Lesson) -> None:
    """Raise NotFoundError for a lesson that the caller may not read, as for an unknown one."""
    if not sees(stores, caller, project, lesson):
        raise NotFoundError(f"no lesson {lesson.id}")


def require_change(stores: TeamStores, caller: TeamCaller, project: TeamProject, lesson: Lesson) -> None:
    """Raise ForbiddenError unless the caller may edit, retire or forget the lesson as it is.

    Reviewers may, and a writer may with what they proposed themselves as long as it waits. Everybody else proposes a
    revision, which waits. Raises NotFoundError for a lesson that the caller may not read.
    """
    require_sight(stores, caller, project, lesson)
    require(caller, "write")
    if caller.may("review"):
        return
    proposed = stores.records.get(ProposedLesson, lesson.id)
    if lesson.state not in curation.WAITING or proposed is None or proposed.actor != caller.actor:
        raise ForbiddenError("only a reviewer changes this lesson", hint="propose a revision of it")


def accept(desk: Desk, ref: str) -> Lesson:
    """Make a waiting lesson active by a reviewer's word; its author stays who stated it."""
    require(desk.caller, "review")
    with desk.team.stores.changing():
        lesson = _held(desk, ref)
        return _accept(desk, lesson, "reviewer")


def reject(desk: Desk, ref: str) -> Lesson:
    """Retire a waiting lesson by a reviewer's word."""
    require(desk.caller, "review")
    with desk.team.stores.changing():
        lesson = curation.reject(desk.services, desk.location, _held(desk, ref).id, author=desk.caller.name)
        record(desk.team, desk.caller.actor, "lesson.reject", lesson.id, project=desk.project.id)
        return lesson


def confirm(desk: Desk, ref: str) -> Judgements:
    """Store that the caller says that the lesson holds, which makes a candidate active if the team's rules say so.

    Confirming again changes nothing. Raises ForbiddenError for a token without a member and for the lesson's own
    proposer, IllegalTransitionError for a lesson that is out of use.
    """
    records = desk.team.stores.records
    with desk.team.stores.changing():
        lesson = _judged(desk, ref)
        proposed = records.get(ProposedLesson, lesson.id)
        if proposed is not None and proposed.actor == desk.caller.actor:
            raise ForbiddenError(
                "you proposed this lesson: others have to confirm it",
                hint="ask another member to confirm it, or a reviewer to accept it",
            )
        key = f"{lesson.id}:{desk.caller.member}"
        records.remove(Flag, key)
        if records.get(Confirmation, key) is None:
            records.add(
                Confirmation(
                    id=key, at=desk.team.clock.now(), lesson=lesson.id, member=desk.caller.member,
                    project=ProjectId(desk.project.id),
                )
            )  # fmt: skip
            record(desk.team, desk.caller.actor, "lesson.confirm", lesson.id, project=desk.project.id)
        rule = _met_rule(desk, lesson) if lesson.state == "candidate" else ""
        if rule:
            lesson = _accept(desk, lesson, rule)
        return _judgements(desk, lesson, rule)


def flag(desk: Desk, ref: str, reason: FlagReason, *, of: str = "", note: str = "") -> Judgements:
    """Store that the caller says that the lesson does not hold; a second flag replaces the first.

    A flag changes nothing by itself: reviewers see it in their queue. `of` is the lesson that a duplicate repeats.
    Raises as `confirm`, and InvalidValueError for an unknown reason.
    """
    if reason not in FLAG_REASONS:
        raise InvalidValueError(f"unknown reason {reason!r}", hint=f"one of {', '.join(FLAG_REASONS)}")
    if of and reason != "duplicate":
        raise InvalidValueError("only a duplicate is one of another lesson")
    records = desk.team.stores.records
    with desk.team.stores.changing():
        lesson = _judged(desk, ref)
        original = _seen(desk, of).id if of else LessonId("")
        if original == lesson.id:
            raise InvalidValueError("a lesson does not repeat itself")
        key = f"{lesson.id}:{desk.caller.member}"
        records.remove(Confirmation, key)
        records.put(
            Flag(
                id=key, at=desk.team.clock.now(), lesson=lesson.id, member=desk.caller.member,
                project=ProjectId(desk.project.id), reason=reason, of=original, note=checked_note(note),
            )
        )  # fmt: skip
        record(desk.team, desk.caller.actor, "lesson.flag", lesson.id, project=desk.project.id, reason=reason)
        return _judgements(desk, lesson)


def withdraw(desk: Desk, ref: str) -> Judgements:
    """Remove the caller's confirmation or flag of the lesson; without one nothing changes."""
    records = desk.team.stores.records
    with desk.team.stores.changing():
        lesson = _judged(desk, ref)
        key = f"{lesson.id}:{desk.caller.member}"
        if records.remove(Confirmation, key) | records.remove(Flag, key):
            record(desk.team, desk.caller.actor, "lesson.withdraw", lesson.id, project=desk.project.id)
        return _judgements(desk, lesson)


def judgements(desk: Desk, ref: str) -> Judgements:
    """Return what members say of the lesson."""
    require(desk.caller, "read")
    return _judgements(desk, _seen(desk, ref))


def list_flags(desk: Desk, *, after: str = "", limit: int = 100) -> list[Flag]:
    """Return the flags of the project's lessons, in the order of their ids, for reviewers."""
    require(desk.caller, "review")
    return desk.team.stores.records.find(Flag, {"project": desk.project.id}, after=after, limit=limit)


def erase_traces(team: TeamServices, lessons: Sequence[LessonId]) -> None:
    """Erase what was said of purged lessons, and every stored answer, because its body may hold their words.

    Call it inside the `changing` in which they are purged.
    """
    records = team.stores.records
    for lesson in lessons:
        records.remove_all(Confirmation, {"lesson": lesson})
        records.remove_all(Flag, {"lesson": lesson})
        if records.remove(ProposedLesson, lesson):
            spend(team, "lessons", -1)
    records.remove_all(IdempotentAnswer)


def _teams(stores: TeamStores, member: MemberId) -> list[Team]:
    return stores.records.find(Team, {"members": member})


def _seen(desk: Desk, ref: str) -> Lesson:
    """Return the lesson of the project, or the organisation's. Raises NotFoundError or LessonNotFoundError."""
    lesson = resolve(desk.services, desk.location, ref)
    require_sight(desk.team.stores, desk.caller, desk.project, lesson)
    return lesson


def _held(desk: Desk, ref: str) -> Lesson:
    """Return the lesson as it stays until the transaction ends."""
    lesson = _seen(desk, ref)
    desk.team.stores.records.hold(f"lesson {lesson.id}")
    return resolve(desk.services, desk.location, lesson.id)


def _judged(desk: Desk, ref: str) -> Lesson:
    require(desk.caller, "judge")
    if not desk.caller.member:
        raise ForbiddenError("only members judge lessons, not service tokens")
    lesson = _held(desk, ref)
    if lesson.state not in LIVING:
        raise IllegalTransitionError(f"lesson {short_id(lesson.id)} is {lesson.state}")
    return lesson


def _met_rule(desk: Desk, lesson: Lesson) -> str:
    """Return the rule by which a candidate that the caller has just confirmed is accepted; empty for none."""
    if desk.caller.may("review"):
        return "reviewer"
    rules = rules_of(desk.team.stores, desk.project)
    if rules.owners and owns(desk.team.stores, desk.project, desk.caller.member, lesson):
        return "owner"
    confirmed = desk.team.stores.records.count(Confirmation, {"lesson": lesson.id})
    return "confirmations" if 0 < rules.confirmations <= confirmed else ""


def _accept(desk: Desk, lesson: Lesson, rule: str) -> Lesson:
    accepted = curation.accept(desk.services, desk.location, lesson.id, actor=desk.caller.name)
    record(desk.team, desk.caller.actor, "lesson.accept", lesson.id, project=desk.project.id, rule=rule)
    return accepted


def _judgements(desk: Desk, lesson: Lesson, accepted_by: str = "") -> Judgements:
    records = desk.team.stores.records
    return Judgements(
        lesson=lesson,
        confirmations=tuple(records.find(Confirmation, {"lesson": lesson.id})),
        flags=tuple(records.find(Flag, {"lesson": lesson.id})),
        accepted_by=accepted_by,
    )
