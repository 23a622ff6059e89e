"""Home: what the agent is told now, what waits, and whether memory works; and the list of projects."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.pages.page import NoValues, Page, PageRow
from holdfast.pages.view import ProjectLine, View


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeData:
    """What the home page says."""

    project: ProjectLine
    branch: str
    brief: str
    """Exactly what a session that starts now is told; empty: nothing."""
    tokens: int
    waiting: int
    confirmed: int
    unconfirmed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectsData:
    """The projects that the reader may see."""

    projects: tuple[ProjectLine, ...]


def make_home(view: View, query: NoValues) -> Page:
    """Return the home page of a project."""
    memory = view.memory
    counts = memory.counts()
    start = memory.brief()
    return Page(
        template="home",
        title=view.project.name,
        data=HomeData(
            project=view.project,
            branch=memory.location.branch,
            brief="\n\n".join(briefing.text for briefing in start if briefing.text),
            tokens=sum(briefing.tokens for briefing in start),
            waiting=len(view.visible(memory.inbox())),
            confirmed=counts.confirmed,
            unconfirmed=counts.unconfirmed,
        ),
    )


def make_projects(view: View, query: NoValues) -> Page:
    """Return the list of projects."""
    return Page(template="projects", data=ProjectsData(projects=view.projects))


PAGES = (
    PageRow(path="/", name="projects", title="Projects", make=make_projects),
    PageRow(path="/p/{project}/", name="home", title="Home", make=make_home),
)
