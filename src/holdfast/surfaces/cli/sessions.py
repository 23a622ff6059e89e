"""`holdfast sessions` and `holdfast threads`: what was done, by session, and what failed, across sessions."""

from __future__ import annotations

import click

from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AmbiguousIdError, NotFoundError
from holdfast.lean.texts import short_id
from holdfast.ports.store import SessionFilter
from holdfast.rendering.views import report_json
from holdfast.reports.sessionstory import Part
from holdfast.reports.sessiontext import render_story, render_threads, render_timeline
from holdfast.reports.threads import ThreadChoice
from holdfast.reports.timeline import SessionChoice, last_on
from holdfast.surfaces.cli.frame import Call, command, limit_option
from holdfast.surfaces.cli.screen import note, say

NEWEST = 10_000
"""Sessions among which a short id is looked for, the newest."""
PARTS: dict[str, Part] = {
    "asked": "prompts", "failed": "failures", "edited": "files", "ran": "commands", "committed": "commits",
    "taught": "taught", "told": "told", "missed": "missed",
}  # fmt: skip
"""The parts of a story by the words that the command line has for them."""


@command(
    "holdfast sessions", "holdfast sessions --branch main --limit 5", "holdfast sessions --last",
    "holdfast sessions 5fcd7193", "holdfast sessions 5fcd7193 --whole asked", memory=True,
)  # fmt: skip
@click.argument("session", metavar="[ID]", default="")
@click.option("--branch", default="", help="Only sessions that worked on this branch.")
@click.option("--person", default="", help="Only sessions of this person, by name.")
@click.option("--host", default="", help="Only sessions of this host, such as claude-code.")
@click.option("--since", metavar="TIME", default="", help="Only since then: 7d, a date, words or a commit.")
@click.option("--last", is_flag=True, help="Tell the last session on this branch, or on the one of --branch.")
@click.option("--whole", type=click.Choice(list(PARTS)), default=None, help="Give this part of the story whole.")
@limit_option(20)
def sessions(
    call: Call, memory: Memory, session: str, branch: str, person: str, host: str, since: str, last: bool,
    whole: str | None, limit: int,
) -> None:  # fmt: skip
    """List sessions by day, or tell the story of one: what was asked, failed, edited, committed, told and taught.

    Without ID and --last, it lists the newest sessions, each with its id, when it began, how long somebody worked in
    it, how it opened and what was done. Nothing is sent anywhere, and no model is asked.
    """
    if last and session:
        raise click.UsageError("give a session's ID or --last, not both")
    if session or last:
        chosen = _last(memory, branch) if last else _resolved(memory, session)
        story = memory.session_story(chosen, whole=PARTS[whole] if whole else "")
        if not call.answer(report_json(story)):
            say(*render_story(story))
        return
    listed = memory.sessions(
        SessionChoice(
            branch=branch, person=person, host=host, since=memory.instant(since) if since else None, limit=limit
        )
    )
    if call.answer({"sessions": report_json(listed.sessions), "older": listed.older}):
        return
    say(*render_timeline(listed))
    if not listed.days:
        note("no session: holdfast doctor shows whether hooks reach this folder")


def _last(memory: Memory, branch: str) -> SessionId:
    wanted = branch or memory.location.branch
    session = last_on(memory.services, memory.location, wanted)
    if not session:
        where = f"on {wanted}" if wanted else "here"
        raise NotFoundError(f"no session {where} yet", hint="holdfast sessions lists those of all branches")
    return session


def _resolved(memory: Memory, text: str) -> SessionId:
    """Return the session whose id it is, or whose short id begins with it."""
    where = SessionFilter(project=memory.location.project.id, limit=NEWEST)
    ids = [row.session for row in memory.services.store.list_sessions(where)]
    if text in ids:
        return SessionId(text)
    fitting = [id_ for id_ in ids if short_id(id_).startswith(text.lower()) or id_.startswith(text)]
    if len(fitting) > 1:
        raise AmbiguousIdError(f"{len(fitting)} sessions begin with {text!r}", hint="give more of the id")
    if not fitting:
        raise NotFoundError(f"no session {text!r} in this project", hint="holdfast sessions")
    return fitting[0]


@command("holdfast threads", "holdfast threads --open", "holdfast threads --branch main --all", memory=True)
@click.option("--open", "only_open", is_flag=True, help="Only failures that no run has shown as mended.")
@click.option("--branch", default="", help="Only failures that were seen on this branch.")
@click.option("--all", "with_slips", is_flag=True, help="Those that failed once only, too.")
@limit_option(20)
def threads(call: Call, memory: Memory, only_open: bool, branch: str, with_slips: bool, limit: int) -> None:
    """List failures across sessions, each with its tries and its cure: failing tests, checks and commands.

    A failure is open until a run passed that includes what had failed. Open ones are named at the start of the next
    session on their branch.
    """
    choice = ThreadChoice(standing="open" if only_open else "", branch=branch, with_slips=with_slips, limit=limit)
    listed = memory.threads(choice)
    if call.answer(report_json(listed)):
        return
    say(*render_threads(listed, memory.services.clock.now()))
    if not listed.threads:
        note("nothing is open" if only_open else "no failure was seen in two tries or two sessions")
