"""Projects: which there are, who sees them, and their rules of review."""

from __future__ import annotations

from holdfast.domain.team import ReviewRules, TeamProject
from holdfast.domain.vocabulary import STATES, ProjectId
from holdfast.ports.store import LessonFilter
from holdfast.surfaces.rest import models, views
from holdfast.surfaces.rest.call import OpCall
from holdfast.surfaces.rest.operations.lists import Paged, records_page
from holdfast.surfaces.rest.table import Op, OpAnswer
from holdfast.team import projects, review

ERASED = 500
"""Lessons of a removed project that are purged at a time."""


def list_projects(call: OpCall) -> OpAnswer:
    """Return the projects that the caller sees, in the order of their ids."""

    def read(after: str, limit: int) -> list[TeamProject]:
        return projects.list_projects(call.team, call.caller, after=after, limit=limit)

    return records_page(call, read, views.project)


def add_project(call: OpCall) -> OpAnswer:
    """Store a project; the same again is answered as it is."""
    body = call.says(models.ProjectIn)
    project = projects.add_project(
        call.team, call.caller, ProjectId(body.id), name=body.name, remote=body.remote, root_commit=body.root_commit
    )
    return OpAnswer(value=views.project(project))


def read_project(call: OpCall) -> OpAnswer:
    """Return a project."""
    return OpAnswer(value=views.project(call.project))


def change_project(call: OpCall) -> OpAnswer:
    """Change a project."""
    body = call.says(models.ProjectChange)
    changes = body.model_dump(exclude_unset=True, exclude={"rules"})
    if "rules" in body.model_fields_set:
        changes["rules"] = ReviewRules(**body.rules.model_dump()) if body.rules else None
    changes = {name: value for name, value in changes.items() if value is not None or name == "rules"}
    project = projects.change_project(call.team, call.caller, ProjectId(call.project.id), **changes)
    return OpAnswer(value=views.project(project))


def remove_project(call: OpCall) -> OpAnswer:
    """Erase a project with its lessons."""
    id_ = ProjectId(call.project.id)
    where = LessonFilter(project=id_, states=STATES, limit=ERASED)
    store = call.stores.store
    projects.remove_project(call.team, call.caller, id_)
    while ids := [lesson.id for lesson in store.find(where) if lesson.scope.project == id_]:
        store.purge(ids)
        review.erase_traces(call.team, ids)
    return OpAnswer()


OPERATIONS = (
    Op(
        method="GET", path="/projects", name="list_projects", verb="read", call=list_projects, query=Paged,
        summary="List the projects that you see.", out=models.Listing[models.ProjectView],
    ),
    Op(
        method="POST", path="/projects", name="add_project", verb="write", call=add_project, body=models.ProjectIn,
        summary="Add a project.", out=models.ProjectView, idempotent=True, errors=(402, 404),
        notes="The same project again is answered as it is.",
    ),
    Op(
        method="GET", path="/projects/{project}", name="read_project", verb="read", call=read_project,
        summary="Read a project's name, teams and rules.", out=models.ProjectView,
    ),
    Op(
        method="PATCH", path="/projects/{project}", name="change_project", verb="administer", call=change_project,
        body=models.ProjectChange, summary="Change a project's name, teams, rules of review or CODEOWNERS.",
        out=models.ProjectView,
    ),
    Op(
        method="DELETE", path="/projects/{project}", name="remove_project", verb="administer", call=remove_project,
        summary="Erase a project with its lessons.", medium="none", status=204,
    ),
)  # fmt: skip
