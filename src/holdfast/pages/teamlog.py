"""What happened in a team: by day for everybody, and the audit log for admins.

The activity says what was done on a day and by whom, in the order of names. It has no sums by member, no times of day
and no order of people: memory is to be trusted by those who teach it, not to measure them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from holdfast.client.answers import AuditCheck, ListPage
from holdfast.client.client import Client
from holdfast.domain.project import ORGANISATION
from holdfast.domain.records import Change
from holdfast.domain.team import AuditEntry
from holdfast.pages.page import Page, PageRow
from holdfast.pages.team import READ_PROJECTS, read_projects, team_client
from holdfast.pages.view import View

READ_CHANGES = 1_000
"""Newest changes of each project that are read."""
ENTRIES_A_PAGE = 50
SCANNED_PAGES = 20
"""Pages of the audit log that are searched for entries that fit before the reader has to ask for more."""
SCANNED_A_PAGE = 200
MEMBERS_NAMED = 1_000

DONE: dict[str, str] = {
    "remember": "stated", "learn": "stated", "import": "stated", "sync": "synced", "accept": "confirmed",
    "confirm": "confirmed", "keep": "confirmed", "reject": "rejected", "revise": "changed", "edit": "changed",
    "retire": "retired", "forget": "forgotten", "undo": "undone", "settle": "settled", "merge": "merged",
}  # fmt: skip
"""What a change did to its lessons, in the words of the page; others are `changed`."""
ORDER = ("stated", "synced", "confirmed", "changed", "settled", "merged", "rejected", "retired", "forgotten", "undone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityQuery:
    """Of how many days."""

    days: Literal["7", "30", "90"] = "30"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneLine:
    """So many lessons to which the same was done."""

    done: str
    lessons: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLine:
    """A day on which something happened."""

    day: datetime
    """Its beginning, UTC."""
    done: tuple[DoneLine, ...]
    members: tuple[str, ...]
    """Who did something, in the order of names."""
    projects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityData:
    """What happened, newest day first."""

    days: tuple[DayLine, ...]
    of_days: int
    projects: int
    """Projects whose changes were read."""
    left_out: int
    """Projects whose changes were not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Which entries, and whether the whole log is checked."""

    about: Literal["", "member", "token", "invitation", "team", "project", "lesson", "organisation", "documents"] = ""
    who: str = ""
    """A member's id, or the actor as the log has it."""
    cursor: str = ""
    check: bool = False
    head: str = ""
    """An end of the log that somebody noted, which it has to contain."""


ACT_WORDS = {
    "organisation.make": "made the organisation", "organisation.change": "changed the settings",
    "member.add": "added a member", "member.change": "changed a member", "member.sign_in": "signed in",
    "member.link": "linked an account", "token.issue": "made a token", "token.revoke": "revoked a token",
    "invitation.make": "made an invitation", "invitation.accept": "accepted an invitation",
    "invitation.revoke": "revoked an invitation", "team.add": "added a team", "team.change": "changed a team",
    "team.remove": "removed a team", "project.add": "added a project", "project.change": "changed a project",
    "project.remove": "removed a project", "project.undo": "undid a change", "documents.send": "synced lessons",
    "lesson.propose": "proposed a lesson", "lesson.remember": "stated a lesson", "lesson.revise": "revised a lesson",
    "lesson.edit": "edited a lesson", "lesson.accept": "accepted a lesson", "lesson.reject": "rejected a lesson",
    "lesson.confirm": "confirmed a lesson", "lesson.flag": "flagged a lesson",
    "lesson.withdraw": "took back their word", "lesson.retire": "retired a lesson", "lesson.forget": "forgot a lesson",
    "lesson.purge": "erased a lesson",
    "lesson.keep": "kept a lesson", "lessons.import": "imported lessons", "session.learn": "sent what a session taught",
    "topic.rename": "renamed a topic", "topic.merge": "merged topics", "topic.split": "split a topic",
}  # fmt: skip
"""Acts of the audit log in words; the log itself and its JSON have their names."""
DETAIL_WORDS = {
    "candidate": "unconfirmed", "active": "confirmed", "quarantined": "suspicious", "superseded": "replaced",
    "session": "browser",
}  # fmt: skip
"""Values of an entry in the words of the pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """An entry of the log, with names in place of ids where they are known."""

    entry: AuditEntry
    who: str
    did: str
    """What was done, in words."""
    target: str
    details: str
    lesson: str
    """The lesson to which it was done, if it was one of a project that the reader sees."""
    project: str
    """The project of that lesson."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditData:
    """Entries of the audit log, newest first."""

    lines: tuple[AuditLine, ...]
    people: tuple[tuple[str, str], ...]
    """(id, name) of the members, by name."""
    query: AuditQuery
    next: str
    checked: AuditCheck | None


def make_activity(view: View, query: ActivityQuery) -> Page:
    """Return the page of what happened by day."""
    client, since = team_client(view), (view.now - timedelta(days=int(query.days))).date()
    named = [project for project in read_projects(view) if project.id != ORGANISATION]
    by_day: dict[date, list[tuple[Change, str]]] = {}
    for project in named:
        for change in client.of_project(project.id).changes(limit=READ_CHANGES):
            if change.at.date() >= since and change.lessons:
                by_day.setdefault(change.at.date(), []).append((change, project.name))
    days = [_day_line(day, by_day[day]) for day in sorted(by_day, reverse=True)]
    left_out = max(0, sum(project.id != ORGANISATION for project in view.projects) - READ_PROJECTS)
    data = ActivityData(days=tuple(days), of_days=int(query.days), projects=len(named), left_out=left_out)
    return Page(template="team-activity", data=data)


def _day_line(day: date, changes: Sequence[tuple[Change, str]]) -> DayLine:
    counts: Counter[str] = Counter()
    for change, _ in changes:
        counts[DONE.get(change.verb, "changed")] += len(change.lessons)
    return DayLine(
        day=datetime.combine(day, time.min, UTC),
        done=tuple(DoneLine(done=done, lessons=counts[done]) for done in ORDER if counts[done]),
        members=_sorted(change.actor for change, _ in changes), projects=_sorted(project for _, project in changes),
    )  # fmt: skip


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {""}, key=str.casefold))


def make_audit(view: View, query: AuditQuery) -> Page:
    """Return the page of the audit log."""
    client = team_client(view)
    members = {member.id: member.name for member in client.members(limit=MEMBERS_NAMED)}
    teams = {team.id: f"the team {team.name}" for team in client.teams(limit=MEMBERS_NAMED)}
    projects = {project.id: project.name for project in view.projects}
    names = projects | teams | members
    entries, after = _find_entries(client, query)
    people = sorted(members.items(), key=lambda pair: pair[1].casefold())
    data = AuditData(
        lines=tuple(_audit_line(entry, names, projects) for entry in entries), people=tuple(people), query=query,
        next=after, checked=client.verify_audit(query.head) if query.check else None,
    )  # fmt: skip
    return Page(template="team-audit", data=data)


def _find_entries(client: Client, query: AuditQuery) -> tuple[list[AuditEntry], str]:
    """Return entries that fit, and the cursor behind the last one that was looked at."""
    if not (query.about or query.who):
        page = client.audit(limit=ENTRIES_A_PAGE, cursor=query.cursor)
        return list(page), page.next
    fitting: list[AuditEntry] = []
    cursor = query.cursor
    for _ in range(SCANNED_PAGES):
        scanned: ListPage[AuditEntry] = client.audit(limit=SCANNED_A_PAGE, cursor=cursor)
        fitting += [entry for entry in scanned if _fits(entry, query)]
        cursor = scanned.next
        if not cursor or len(fitting) >= ENTRIES_A_PAGE:
            break
    return fitting, cursor


def _fits(entry: AuditEntry, query: AuditQuery) -> bool:
    is_about = not query.about or entry.action.partition(".")[0].rstrip("s") == query.about.rstrip("s")
    return is_about and query.who in ("", entry.actor)


def _audit_line(entry: AuditEntry, names: Mapping[str, str], projects: Mapping[str, str]) -> AuditLine:
    actor, project = entry.actor, entry.details.get("project", "")
    is_lesson = entry.action.startswith("lesson.") and project in projects and entry.action != "lesson.purge"
    program = f"program {actor.removeprefix('token:')}" if actor.startswith("token:") else ""
    details = ", ".join(
        f"{name} {names.get(value, DETAIL_WORDS.get(value, value))}" for name, value in entry.details.items() if value
    )
    return AuditLine(
        entry=entry, who=names.get(actor, program or {"system": "the server"}.get(actor, actor)),
        did=ACT_WORDS.get(entry.action, entry.action.replace(".", " ").replace("_", " ")),
        target=names.get(entry.target, entry.target), details=details, lesson=entry.target if is_lesson else "",
        project=project if is_lesson else "",
    )  # fmt: skip


PAGES = (
    PageRow(
        path="/team/activity", name="activity", title="Activity", make=make_activity, query=ActivityQuery,
        is_served_only=True, under="members",
    ),
    PageRow(
        path="/team/audit", name="audit", title="Audit log", make=make_audit, query=AuditQuery, verb="audit",
        is_served_only=True, under="members",
    ),
)  # fmt: skip
