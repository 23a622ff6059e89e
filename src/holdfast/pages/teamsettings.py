"""The organisation's settings as forms: name, review, sign-in, quotas, teams, and what is set for each project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from holdfast.client.client import Client
from holdfast.domain.team import NO_TEAM, Limits, Member, Organisation, Team, TeamProject
from holdfast.errors import InvalidValueError
from holdfast.pages.page import ActionAnswer, ActionRow, Goal, NoValues, Page, PageRow
from holdfast.pages.team import split_words, team_client
from holdfast.pages.view import Door, View

SHOWN = 200
"""Members, teams and projects that the forms offer."""

LIMIT_WORDS: dict[str, tuple[str, str]] = {
    "lessons": ("Lessons", "in all projects together"),
    "projects": ("Projects", ""),
    "members": ("Members", "open accounts and closed ones"),
    "tokens": ("Tokens", "of members and programs; browsers do not count"),
    "events_a_day": ("Events a day", "what agents' sessions send"),
    "requests_a_minute": ("Requests a minute", "of one token"),
}
"""By quota: its label, and what is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitLine:
    """A quota of the form."""

    name: str
    label: str
    hint: str
    value: int
    """0: no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsData:
    """Everything that an admin sets."""

    organisation: Organisation
    limits: tuple[LimitLine, ...]
    teams: tuple[Team, ...]
    members: tuple[Member, ...]
    projects: tuple[TeamProject, ...]
    closed: tuple[str, ...]
    """Ids of the projects that only admins see, because nobody has opened them to others yet."""


def make_settings(view: View, query: NoValues) -> Page:
    """Return the page of the settings."""
    client = team_client(view)
    organisation = client.organisation()
    limits = [
        LimitLine(name=name, label=label, hint=hint, value=getattr(organisation.limits, name))
        for name, (label, hint) in LIMIT_WORDS.items()
    ]
    members = sorted(client.members(limit=SHOWN), key=lambda member: member.name.casefold())
    teams = sorted(client.teams(limit=SHOWN), key=lambda team: team.name.casefold())
    projects = sorted(client.projects(limit=SHOWN), key=lambda project: project.name.casefold())
    return Page(
        template="team-settings",
        data=SettingsData(
            organisation=organisation, limits=tuple(limits),
            teams=tuple(teams),
            members=tuple(member for member in members if member.active),
            projects=tuple(projects), closed=tuple(each.id for each in projects if NO_TEAM in each.teams),
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganisationNameForm:
    """The organisation's name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesForm:
    """Who confirms what is proposed, beside the reviewers."""

    confirmations: int = 0
    owners: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInForm:
    """Whose people become members by signing in."""

    domains: str = ""
    sign_in_role: Literal["reader", "writer", "reviewer"] = "writer"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsForm:
    """The quotas; 0: no limit."""

    lessons: int = 0
    projects: int = 0
    members: int = 0
    tokens: int = 0
    events_a_day: int = 0
    requests_a_minute: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamForm:
    """A team."""

    name: str
    handle: str = ""
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectForm:
    """What is set for one project."""

    name: str
    teams: tuple[str, ...] = ()
    is_closed: bool = False
    """Whether it stays a project that only admins see, whatever `teams` says."""
    has_rules: bool = False
    """Whether the project has rules of its own."""
    confirmations: int = 0
    owners: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersForm:
    """The text of a CODEOWNERS file."""

    codeowners: str = ""


def _client(door: Door) -> Client:
    assert isinstance(door, Client), "only a server has settings"
    return door


def _done(message: str) -> ActionAnswer:
    return ActionAnswer(message=message, to=Goal(name="settings"))


def save_name(door: Door, parameters: Mapping[str, str], form: OrganisationNameForm) -> ActionAnswer:
    """Change the organisation's name."""
    return _done(f"The organisation is called {_client(door).change_organisation(name=form.name).name} now.")


def save_rules(door: Door, parameters: Mapping[str, str], form: RulesForm) -> ActionAnswer:
    """Change who confirms what is proposed."""
    _client(door).change_organisation(rules={"confirmations": form.confirmations, "owners": form.owners})
    return _done("The rules of review are changed. They hold for what is proposed and confirmed from now on.")


def save_sign_in(door: Door, parameters: Mapping[str, str], form: SignInForm) -> ActionAnswer:
    """Change whose people become members by signing in."""
    _client(door).change_organisation(domains=split_words(form.domains), sign_in_role=form.sign_in_role)
    return _done("The rules of sign-in are changed.")


def save_limits(door: Door, parameters: Mapping[str, str], form: LimitsForm) -> ActionAnswer:
    """Change the quotas."""
    if any(getattr(form, name) < 0 for name in LIMIT_WORDS):
        raise InvalidValueError("a quota is 0 or more", hint="0 stands for no limit")
    limits = Limits(**{name: getattr(form, name) for name in LIMIT_WORDS})
    _client(door).change_organisation(limits={name: getattr(limits, name) for name in LIMIT_WORDS})
    return _done("The quotas are changed. What is there already stays, also above a quota.")


def add_team(door: Door, parameters: Mapping[str, str], form: TeamForm) -> ActionAnswer:
    """Add a team."""
    team = _client(door).add_team(form.name, handle=form.handle, members=form.members)
    return _done(f"Added: the team {team.name}.")


def change_team(door: Door, parameters: Mapping[str, str], form: TeamForm) -> ActionAnswer:
    """Change a team's name, handle and members."""
    changes = {"name": form.name, "handle": form.handle, "members": list(form.members)}
    return _done(f"Changed: the team {_client(door).change_team(parameters['team'], **changes).name}.")


def remove_team(door: Door, parameters: Mapping[str, str], form: NoValues) -> ActionAnswer:
    """Remove a team; its members stay."""
    _client(door).remove_team(parameters["team"])
    return _done("The team is removed; its members stay.")


def change_project(door: Door, parameters: Mapping[str, str], form: ProjectForm) -> ActionAnswer:
    """Change a project's name, who sees it, and its rules of review."""
    rules = {"rules": {"confirmations": form.confirmations, "owners": form.owners}} if form.has_rules else {}
    seen_by = {} if form.is_closed else {"teams": list(form.teams)}
    client = _client(door).of_project(parameters["project"])
    return _done(f"Changed: {client.change_project(name=form.name, **seen_by, **rules).name}.")


def save_owners(door: Door, parameters: Mapping[str, str], form: OwnersForm) -> ActionAnswer:
    """Replace the project's CODEOWNERS."""
    text = form.codeowners.replace("\r\n", "\n")
    project = _client(door).of_project(parameters["project"]).change_project(codeowners=text)
    return _done(f"The code owners of {project.name} are {'replaced' if text.strip() else 'removed'}.")


PAGES = (
    PageRow(
        path="/team/settings", name="settings", title="Settings", make=make_settings, verb="administer",
        is_served_only=True, under="members",
    ),
)  # fmt: skip
ACTIONS = (
    ActionRow(path="/team/settings/name", name="save-name", verb="administer", act=save_name, form=OrganisationNameForm,
              is_served_only=True),
    ActionRow(path="/team/settings/review", name="save-rules", verb="administer", act=save_rules, form=RulesForm,
              is_served_only=True),
    ActionRow(path="/team/settings/sign-in", name="save-sign-in", verb="administer", act=save_sign_in,
              form=SignInForm, is_served_only=True),
    ActionRow(path="/team/settings/quotas", name="save-limits", verb="administer", act=save_limits, form=LimitsForm,
              is_served_only=True),
    ActionRow(path="/team/teams", name="add-team", verb="administer", act=add_team, form=TeamForm,
              is_served_only=True),
    ActionRow(path="/team/teams/{team}", name="change-team", verb="administer", act=change_team, form=TeamForm,
              is_served_only=True),
    ActionRow(path="/team/teams/{team}/remove", name="remove-team", verb="administer", act=remove_team,
              is_served_only=True),
    ActionRow(path="/team/projects/{project}", name="change-project", verb="administer", act=change_project,
              form=ProjectForm, is_served_only=True),
    ActionRow(path="/team/projects/{project}/owners", name="save-owners", verb="administer", act=save_owners,
              form=OwnersForm, is_served_only=True),
)  # fmt: skip
