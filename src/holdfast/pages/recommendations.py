"""The page of recommendations, each with its evidence and a button that dismisses it for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.bootstrap import Memory
from holdfast.errors import ForbiddenError
from holdfast.pages.page import ActionAnswer, ActionRow, Page, PageRow, UndoStep
from holdfast.pages.view import Door, View
from holdfast.reports.advice import ADVICE, AdviceKind
from holdfast.reports.recommendations import Recommendation


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationsQuery:
    """Whether dismissed ones are shown, too."""

    all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendationsData:
    """What the page of recommendations says."""

    rows: tuple[Recommendation, ...]
    headings: dict[AdviceKind, str]
    has_code: bool
    """Whether there is a work tree; without one nothing can be recommended."""
    query: RecommendationsQuery


def make_recommendations(view: View, query: RecommendationsQuery) -> Page:
    """Return what a person could do so that lessons need not be told again."""
    memory = view.memory
    rows = memory.recommendations(dismissed=query.all, fresh=False)
    shown = {row.kind for row in rows}
    data = RecommendationsData(
        rows=tuple(rows),
        headings={kind: heading for kind, heading in ADVICE.items() if kind in shown},
        has_code=memory.location.has_work_tree,
        query=query,
    )
    return Page(template="recommendations", data=data)


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissForm:
    """The recommendation, and whether it comes back instead."""

    key: str
    restore: bool = False


def dismiss(door: Door, parameters: Mapping[str, str], form: DismissForm) -> ActionAnswer:
    """Dismiss a recommendation for good, or take that back."""
    if not isinstance(door, Memory):
        raise ForbiddenError("a server recommends nothing: it has no code")
    row = door.restore_recommendation(form.key) if form.restore else door.dismiss_recommendation(form.key)
    undo = UndoStep(name="dismiss", fields={"key": row.key, "restore": "" if form.restore else "true"})
    return ActionAnswer(message=f"{'Shown again' if form.restore else 'Dismissed'}: {row.title}", undo=undo)


PAGES = (
    PageRow(
        path="/p/{project}/recommendations", name="recommendations", title="Recommendations",
        make=make_recommendations, query=RecommendationsQuery,
    ),
)  # fmt: skip
ACTIONS = (
    ActionRow(
        path="/p/{project}/recommendations/dismiss", name="dismiss", verb="write", act=dismiss, form=DismissForm
    ),
)  # fmt: skip
