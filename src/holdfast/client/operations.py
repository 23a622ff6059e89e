"""Every operation of a server as a pure function: what to send, and how to read the answer.

`client` binds them to two transports, so each is written once. A function's first argument says for which project. The
paths and bodies are those of the server's page of routes; `tests/client/test_operations.py` compares them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from holdfast.client.answers import (
    AuditCheck,
    ConflictPair,
    Doubt,
    Invited,
    Issued,
    LessonJudgements,
    LessonVersion,
    ListPage,
    Me,
    ReviewQueue,
    SessionSummary,
    StoredEvents,
    Topic,
)
from holdfast.client.requests import NDJSON, HttpReply, HttpRequest, body, path
from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.team import (
    AuditEntry,
    Confirmation,
    Flag,
    FlagReason,
    Invitation,
    Member,
    Organisation,
    Role,
    Team,
    TeamProject,
    Token,
    Verb,
)
from holdfast.domain.vocabulary import LessonKind, State, Trust
from holdfast.errors import InvalidValueError, ServerError
from holdfast.lean.plain import from_plain, render_instant, to_plain

T = TypeVar("T")
Read = Callable[[Any], T]
"""Reads the JSON value of an answer."""
LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The project that operations are about."""

    project: str = ""

    def path(self, template: str, **parameters: str) -> str:
        """Return the path with its parameters. Raises InvalidValueError for an operation that needs a project."""
        values = {"project": self.project, **parameters}
        if "{project}" in template and not self.project:
            raise InvalidValueError("no project", hint="give the client a project")
        parts = [part for part in template.split("/") if part]
        return path(*(values[part[1:-1]] if part.startswith("{") else part for part in parts)) or "/"

    def get(
        self, template: str, read: Read[T], query: Mapping[str, Any] | None = None, **parameters: str
    ) -> HttpRequest[T]:
        """Return a request that changes nothing."""
        return HttpRequest(
            method="GET", path=self.path(template, **parameters), read=_json(read), query=_query(query),
            is_repeatable=True,
        )  # fmt: skip

    def ask(self, template: str, read: Read[T], **fields: Any) -> HttpRequest[T]:
        """Return a request with a body that changes nothing."""
        return HttpRequest(
            method="POST", path=self.path(template), read=_json(read), body=body(**fields), is_repeatable=True
        )

    def post(self, template: str, read: Read[T], parameters: Mapping[str, str], **fields: Any) -> HttpRequest[T]:
        """Return a request that makes something once, however often it is sent."""
        return HttpRequest(
            method="POST", path=self.path(template, **parameters), read=_json(read),
            body=body(**fields) if fields else None, headers={"Idempotency-Key": uuid4().hex}, is_repeatable=True,
        )  # fmt: skip

    def patch(
        self, template: str, read: Read[T], parameters: Mapping[str, str], etag: str = "", **fields: Any
    ) -> HttpRequest[T]:
        """Return a request that changes something, only if it is still that version."""
        return HttpRequest(
            method="PATCH", path=self.path(template, **parameters), read=_json(read), body=body(**fields),
            headers=_match(etag), is_repeatable=bool(etag),
        )  # fmt: skip

    def delete(self, template: str, read: Read[T], etag: str = "", **parameters: str) -> HttpRequest[T]:
        """Return a request that removes something, only if it is still that version."""
        return HttpRequest(
            method="DELETE", path=self.path(template, **parameters), read=_json(read), headers=_match(etag),
            is_repeatable=bool(etag),
        )  # fmt: skip

    def send_lines(
        self, template: str, read: Read[T], lines: Sequence[str], query: Mapping[str, Any] | None = None
    ) -> HttpRequest[T]:
        """Return a request whose body is JSON lines."""
        return HttpRequest(
            method="POST", path=self.path(template), read=_json(read), query=_query(query), media_type=NDJSON,
            body="".join(f"{line}\n" for line in lines).encode("utf-8", "replace"),
            headers={"Idempotency-Key": uuid4().hex}, is_repeatable=True,
        )  # fmt: skip


def etag_of(lesson: Lesson) -> str:
    """Return the version of a lesson as the server names it."""
    return f"{lesson.id[-12:]}-{int(lesson.recorded_at.timestamp() * 1_000_000):x}"


def _match(etag: str) -> dict[str, str]:
    return {"If-Match": f'"{etag}"'} if etag else {}


def _query(values: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the values that are set, as texts: lists with commas, instants as ISO 8601."""
    texts: dict[str, str] = {}
    for name, value in (values or {}).items():
        if isinstance(value, datetime):
            texts[name] = render_instant(value)
        elif isinstance(value, bool):
            texts[name] = "true" if value else ""
        elif isinstance(value, str | int):
            texts[name] = str(value)
        elif value is not None:
            texts[name] = ",".join(value)
    return {name: text for name, text in texts.items() if text}


# Reading answers


def _json(read: Read[T]) -> Callable[[HttpReply], T]:
    def read_reply(reply: HttpReply) -> T:
        value = reply.json() if reply.content else None
        try:
            return read(value)
        except (TypeError, KeyError, AttributeError) as exc:
            raise ServerError(
                f"the answer lacks something: {exc}", hint="is the server older than this client?"
            ) from exc

    return read_reply


def _nothing(value: Any) -> None:
    return None


def _object(value: Any) -> dict[str, Any]:
    return dict(value)


def _record(kind: type[T], **missing: Any) -> Read[T]:
    """Return what reads a record, of which an answer leaves out `missing`."""
    return lambda value: from_plain(kind, {**missing, **value})


_lesson: Read[Lesson] = _record(Lesson)
_token: Read[Token] = _record(Token, digest="")
_invitation: Read[Invitation] = _record(Invitation, digest="")


def _page(read: Read[T]) -> Read[ListPage[T]]:
    return lambda value: ListPage([read(item) for item in value["items"]], value["next"])


def _briefing(value: Any) -> Briefing:
    """Return a briefing; what it derives from its items is left out."""
    return from_plain(Briefing, {name: part for name, part in value.items() if name != "nearest"} | _ranked(value))


def _ranked(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the items of a briefing with the factors of their scores as pairs."""
    parts: dict[str, Any] = {}
    for name in ("items", "near"):
        parts[name] = [
            {
                **item,
                "why": {**item["why"], "multipliers": [[m["name"], m["factor"]] for m in item["why"]["multipliers"]]},
            }
            for item in value[name]
        ]
    return parts


def _pairs(why: Mapping[str, Any]) -> list[list[Any]]:
    return [[multiplier["name"], multiplier["factor"]] for multiplier in why["multipliers"]]


def _judgements(value: Any) -> LessonJudgements:
    return LessonJudgements(
        lesson=_lesson(value["lesson"]), confirmations=tuple(map(_record(Confirmation), value["confirmations"])),
        flags=tuple(map(_record(Flag), value["flags"])), accepted_by=value["accepted_by"],
    )  # fmt: skip


# Lessons

LESSONS = "/projects/{project}/lessons"
LESSON = LESSONS + "/{lesson}"


def remember(
    at: Place,
    /,
    insight: str,
    *,
    kind: LessonKind = "convention",
    title: str = "",
    why: str = "",
    how: str = "",
    snippets: Sequence[str] = (),
    files: Sequence[str] = (),
    symbols: Sequence[str] = (),
    tags: Sequence[str] = (),
    topic_key: str = "",
    pinned: bool = False,
    quote: str = "",
    trust: Trust = "person",
    revive_when: str = "",
) -> HttpRequest[Lesson]:
    """State a lesson; it waits for a reviewer where the team's rules say so."""
    return at.post(
        LESSONS, _lesson, {}, insight=insight, kind=kind, title=title, why=why, how=how, snippets=list(snippets),
        files=list(files), symbols=list(symbols), tags=list(tags), topic=topic_key, pinned=pinned, quote=quote,
        trust=trust, revive_when=revive_when,
    )  # fmt: skip


def lessons(
    at: Place,
    /,
    *,
    states: Sequence[State] = ("active",),
    kinds: Sequence[LessonKind] = (),
    path: str = "",
    tag: str = "",
    trust: Trust | None = None,
    since: datetime | None = None,
    as_of: datetime | None = None,
    limit: int = LIMIT,
    cursor: str = "",
) -> HttpRequest[ListPage[Lesson]]:
    """Return a page of lessons, newest first; all given conditions hold together."""
    query = {
        "state": states, "kind": kinds, "path": path, "tag": tag, "trust": trust, "since": since, "as_of": as_of,
        "limit": limit, "cursor": cursor,
    }  # fmt: skip
    return at.get(LESSONS, _page(_lesson), query)


def get(at: Place, /, ref: str) -> HttpRequest[Lesson]:
    """Return the lesson with that id, or with an id that ends like this."""
    return at.get(LESSON, _lesson, lesson=ref)


def revise(at: Place, /, lesson: Lesson, **changes: Any) -> HttpRequest[Lesson]:
    """Replace the lesson by a better one, unless somebody has changed it; return the successor.

    `when` maps kinds of triggers to what replaces them.
    """
    if changes.get("when") is not None:
        changes = {**changes, "when": {name: _plain(value) for name, value in changes["when"].items()}}
    fields = {("topic" if name == "topic_key" else name): _plain(value) for name, value in changes.items()}
    return at.patch(LESSON, _lesson, {"lesson": lesson.id}, etag_of(lesson), **{"trust": "person", **fields})


def edit(at: Place, /, ref: str | Lesson, **changes: Any) -> HttpRequest[Lesson]:
    """Change the title, or when the lesson is told: paths, symbols, literals, commands, work, needs, standing.

    With a lesson that was read, only unless somebody has changed it.
    """
    id_, etag = (ref.id, etag_of(ref)) if isinstance(ref, Lesson) else (ref, "")
    return at.patch(
        LESSON + "/when", _lesson, {"lesson": id_}, etag, **{name: _plain(x) for name, x in changes.items()}
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def forget(at: Place, /, lesson: Lesson) -> HttpRequest[Lesson]:
    """Take the lesson out of use for good, unless somebody has changed it; its history stays."""
    return at.delete(LESSON, _lesson, etag_of(lesson), lesson=lesson.id)


def retire(at: Place, /, ref: str, revive_when: str = "") -> HttpRequest[Lesson]:
    """Retire the lesson, until a condition such as `numpy>=2` holds, or for good."""
    return at.post(LESSON + "/retire", _lesson, {"lesson": ref}, revive_when=revive_when)


def purge(at: Place, /, ref: str) -> HttpRequest[dict[str, Any]]:
    """Erase the lesson and everything derived from it; return what was erased."""
    return at.post(LESSON + "/purge", _object, {"lesson": ref})


def undo(at: Place, /, *, change: str = "") -> HttpRequest[Change]:
    """Undo the last change of the project's memory, or exactly the one with that id."""
    request = at.post("/projects/{project}/undo", _record(Change), {})
    return replace(request, query=_query({"change": change}))


def changes(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Change]]:
    """Return the newest changes of the project's memory."""
    return at.get("/projects/{project}/log", _page(_record(Change)), {"limit": limit, "cursor": cursor})


def lineage(at: Place, /, ref: str) -> HttpRequest[ListPage[LessonVersion]]:
    """Return the versions of the lesson, of its predecessors and successors, oldest first."""
    return at.get(LESSON + "/history", _page(_version), lesson=ref)


def _version(value: Any) -> LessonVersion:
    return LessonVersion(
        lesson=_lesson(value["lesson"]), verb=value["verb"], actor=value["actor"], why=value["why"],
        differences=tuple(value["differences"]),
    )  # fmt: skip


def explain(at: Place, /, ref: str) -> HttpRequest[dict[str, Any]]:
    """Return why the lesson is believed: its evidence, what followed where it was told, its changes."""
    return at.get(LESSON + "/evidence", _object, lesson=ref)


def links(at: Place, /, ref: str) -> HttpRequest[ListPage[dict[str, Any]]]:
    """Return the links of the lesson, each with `kind`, `source` and `target`."""
    return at.get(LESSON + "/links", _page(_object), lesson=ref)


# Judging


def confirm(at: Place, /, ref: str) -> HttpRequest[LessonJudgements]:
    """Say that the lesson holds; once a member."""
    return at.post(LESSON + "/confirmations", _judgements, {"lesson": ref})


def flag(at: Place, /, ref: str, reason: FlagReason, *, note: str = "", of: str = "") -> HttpRequest[LessonJudgements]:
    """Say that the lesson is stale, incorrect or a duplicate (`of` another one); reviewers see it."""
    return at.post(LESSON + "/flags", _judgements, {"lesson": ref}, reason=reason, note=note, of=of)


def withdraw(at: Place, /, ref: str) -> HttpRequest[LessonJudgements]:
    """Take back what you said of the lesson, for or against it."""
    return at.delete(LESSON + "/confirmations", _judgements, lesson=ref)


def confirmations(at: Place, /, ref: str) -> HttpRequest[ListPage[Confirmation]]:
    """Return who says that the lesson holds."""
    return at.get(LESSON + "/confirmations", _page(_record(Confirmation)), lesson=ref)


def flags(at: Place, /, ref: str) -> HttpRequest[ListPage[Flag]]:
    """Return who says that the lesson does not hold, and why."""
    return at.get(LESSON + "/flags", _page(_record(Flag)), lesson=ref)


def all_flags(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Flag]]:
    """Return the flags of the project's lessons."""
    return at.get("/projects/{project}/flags", _page(_record(Flag)), {"limit": limit, "cursor": cursor})


def inbox(at: Place, /, *, limit: int = LIMIT) -> HttpRequest[ReviewQueue]:
    """Return what waits for a reviewer, what is flagged and what is in doubt."""
    return at.get("/projects/{project}/review", _queue, {"limit": limit})


def _queue(value: Any) -> ReviewQueue:
    doubts = tuple(
        Doubt(lesson=_lesson(each["lesson"]), reason=each["reason"], reasons=tuple(each["reasons"]))
        for each in value["in_doubt"]
    )
    return ReviewQueue(
        waiting=tuple(map(_lesson, value["waiting"])), flags=tuple(map(_record(Flag), value["flags"])),
        in_doubt=doubts, more=value["more"],
    )  # fmt: skip


def accept(at: Place, /, ref: str) -> HttpRequest[Lesson]:
    """Accept a lesson that waits."""
    return at.post(LESSON + "/accept", _lesson, {"lesson": ref})


def reject(at: Place, /, ref: str) -> HttpRequest[Lesson]:
    """Reject a lesson that waits."""
    return at.post(LESSON + "/reject", _lesson, {"lesson": ref})


def keep(at: Place, /, ref: str) -> HttpRequest[Lesson]:
    """State that a lesson in doubt still holds."""
    return at.post(LESSON + "/keep", _lesson, {"lesson": ref})


def put_off(at: Place, /, ref: str) -> HttpRequest[Lesson]:
    """Do not list a lesson among those in doubt for 7 days."""
    return at.post(LESSON + "/later", _lesson, {"lesson": ref})


def bring_back(at: Place, /, ref: str) -> HttpRequest[Lesson]:
    """List a lesson again that was left for later."""
    return at.delete(LESSON + "/later", _lesson, lesson=ref)


def apply_tidying(
    at: Place,
    /,
    verb: str,
    lesson: str,
    *,
    replaces: Sequence[str] = (),
    title: str = "",
    by: str = "rule",
    words: Sequence[str] = (),
) -> HttpRequest[Change]:
    """Apply one step of a tidying: `merge`, `retitle` or `retire`."""
    fields = {"replaces": list(replaces), "title": title, "by": by, "words": list(words)}
    return at.post("/projects/{project}/tidying/applied", _record(Change), {}, verb=verb, lesson=lesson, **fields)


def refuse_tidying(at: Place, /, step: str, *, reopen: bool = False) -> HttpRequest[dict[str, Any]]:
    """Do not propose the step of that digest again, or take that back."""
    return at.post("/projects/{project}/tidying/refused", _object, {}, step=step, reopen=reopen)


def conflicts(at: Place, /) -> HttpRequest[ListPage[ConflictPair]]:
    """Return pairs of lessons that cannot hold together."""
    return at.get("/projects/{project}/conflicts", _page(_conflict))


def _conflict(value: Any) -> ConflictPair:
    return ConflictPair(
        better=_lesson(value["better"]), worse=_lesson(value["worse"]), slot=value["slot"],
        values=tuple(value["values"]), reason=value["reason"], sure=value["sure"],
    )  # fmt: skip


def settle(at: Place, /, ref: str, over: Sequence[str] = ()) -> HttpRequest[Lesson]:
    """Keep the lesson; it closes those of `over`, by default all in conflict with it."""
    return at.post("/projects/{project}/conflicts", _lesson, {}, keep=ref, close=list(over))


def keep_both(at: Place, /, ref: str, other: str) -> HttpRequest[Lesson]:
    """State that two lessons hold together."""
    return at.post("/projects/{project}/conflicts", _lesson, {}, keep=ref, close=[other], both=True)


def feedback(at: Place, /, ref: str, verdict: str, note: str = "", *, session: str = "") -> HttpRequest[Outcome]:
    """Say whether a lesson that was told helped: `helped`, `heeded` or `hurt`."""
    fields = {"lesson": ref, "verdict": verdict, "note": note, "session": session}
    return at.post("/projects/{project}/outcomes", _record(Outcome), {}, **fields)


def outcomes(
    at: Place, /, *, lesson: str = "", session: str = "", limit: int = LIMIT
) -> HttpRequest[ListPage[Outcome]]:
    """Return what followed where lessons were told, newest first."""
    query = {"lesson": lesson, "session": session, "limit": limit}
    return at.get("/projects/{project}/outcomes", _page(_record(Outcome)), query)


def log(at: Place, /, *, lesson: str = "", session: str = "", limit: int = LIMIT) -> HttpRequest[ListPage[Delivery]]:
    """Return which lessons were told, when and why, newest first."""
    query = {"lesson": lesson, "session": session, "limit": limit}
    return at.get("/projects/{project}/deliveries", _page(_record(Delivery)), query)


# Questions


def recall(
    at: Place,
    /,
    text: str = "",
    *,
    paths: Sequence[str] = (),
    symbols: Sequence[str] = (),
    command: str = "",
    error: str = "",
    limit: int = 3,
    budget_tokens: int = 2000,
    as_of: datetime | None = None,
    states: Sequence[State] = (),
    kinds: Sequence[LessonKind] = (),
    sessions: bool = False,
) -> HttpRequest[Briefing]:
    """Return the lessons that matter to the question, best first, within the budget."""
    return at.ask(
        "/projects/{project}/recall", _briefing, text=text, paths=list(paths), symbols=list(symbols), command=command,
        error=error, limit=limit, budget_tokens=budget_tokens, as_of=render_instant(as_of) if as_of else None,
        states=list(states), kinds=list(kinds), sessions=sessions,
    )  # fmt: skip


def brief(at: Place, /, *, prompt: str = "", file: str = "", command: str = "") -> HttpRequest[list[Briefing]]:
    """Return what a new session is told: at its start, then for the prompt, file and command that are given."""
    return at.ask("/projects/{project}/brief", _briefings, prompt=prompt, file=file, command=command)


def _briefings(value: Any) -> list[Briefing]:
    return [_briefing(each) for each in value["briefings"]]


def topics(at: Place, /, *, limit: int = LIMIT) -> HttpRequest[ListPage[Topic]]:
    """Return topics, those with most lessons first."""
    return at.get("/projects/{project}/topics", _page(_record(Topic)), {"limit": limit})


def rename_topic(at: Place, /, name: str, new: str) -> HttpRequest[ListPage[Topic]]:
    """Give a topic another name, for all readers; return the topics."""
    return at.post("/projects/{project}/topics/rename", _page(_record(Topic)), {}, name=name, new=new)


def merge_topics(at: Place, /, name: str, into: str) -> HttpRequest[ListPage[Topic]]:
    """Make two topics one, under the name of the second, for all readers; return the topics."""
    return at.post("/projects/{project}/topics/merge", _page(_record(Topic)), {}, name=name, into=into)


def split_topic(at: Place, /, name: str) -> HttpRequest[ListPage[Topic]]:
    """Take back the name of a topic, and every merge into it; return the topics."""
    return at.post("/projects/{project}/topics/split", _page(_record(Topic)), {}, name=name)


def digest(
    at: Place, /, *, since: datetime | None = None, until: datetime | None = None, audience: str = "me"
) -> HttpRequest[dict[str, Any]]:
    """Return what was learnt, changed, contradicted and resolved, by default in the last 7 days, and what waits."""
    query = {"since": since, "until": until, "audience": audience}
    return at.get("/projects/{project}/digest", _object, query)


def stats(at: Place, /) -> HttpRequest[dict[str, Any]]:
    """Return how often lessons were told, heeded and missed."""
    return at.get("/projects/{project}/stats", _object)


# Sessions


def append(at: Place, /, events: Sequence[Event]) -> HttpRequest[StoredEvents]:
    """Store events of sessions, redacted; the same one is stored once."""
    lines = [json.dumps(_event_line(event), ensure_ascii=False) for event in events]
    return at.send_lines("/projects/{project}/events", _record(StoredEvents), lines)


def _event_line(event: Event) -> dict[str, Any]:
    plain = to_plain(event)
    return {name: value for name, value in plain.items() if name not in ("project", "cwd", "text_length", "trust")}


def sessions(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[SessionSummary]]:
    """Return sessions, in the order in which their events arrived."""
    query = {"limit": limit, "cursor": cursor}
    return at.get("/projects/{project}/sessions", _page(_record(SessionSummary)), query)


def session_events(at: Place, /, session: str, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Event]]:
    """Return the events of a session in the order in which they arrived."""
    query = {"limit": limit, "cursor": cursor}
    return at.get("/projects/{project}/sessions/{session}", _page(_record(Event)), query, session=session)


def answer_call(at: Place, /, call: Mapping[str, Any]) -> HttpRequest[str]:
    """Report one step of an agent's session, as `client.session` makes it; return the answer as JSON."""
    return at.post("/projects/{project}/calls", json.dumps, {}, **call)


def learn(at: Place, /, session: str) -> HttpRequest[dict[str, Any]]:
    """Learn from a session's events; return what was found."""
    return at.post("/projects/{project}/sessions/{session}/learn", _object, {"session": session})


def save_checkpoint(
    at: Place,
    /,
    goal: str,
    *,
    task: str = "",
    done: Sequence[str] = (),
    next: Sequence[str] = (),
    open_questions: Sequence[str] = (),
    files: Sequence[str] = (),
    session: str = "",
) -> HttpRequest[Checkpoint]:
    """Save the state of a task."""
    return at.post(
        "/projects/{project}/checkpoints", _record(Checkpoint), {}, goal=goal, task=task, done=list(done),
        next=list(next), open_questions=list(open_questions), files=list(files), session=session,
    )  # fmt: skip


def checkpoint(at: Place, /, task: str = "") -> HttpRequest[Checkpoint]:
    """Return the present state of a task, by default of the newest."""
    return at.get("/projects/{project}/checkpoint", _record(Checkpoint), {"task": task})


def checkpoints(at: Place, /, *, limit: int = LIMIT) -> HttpRequest[ListPage[Checkpoint]]:
    """Return the states of tasks, newest first."""
    return at.get("/projects/{project}/checkpoints", _page(_record(Checkpoint)), {"limit": limit})


def close_checkpoint(at: Place, /, task: str = "") -> HttpRequest[Checkpoint]:
    """Close a task: there is nothing to go on with."""
    request = at.delete("/projects/{project}/checkpoint", _record(Checkpoint))
    return replace(request, query=_query({"task": task}))


# In bulk


def export_lessons(at: Place, /, *, states: Sequence[State] = ("active",)) -> HttpRequest[list[dict[str, Any]]]:
    """Return every lesson in these states as `holdfast export` writes it, newest first."""
    request = at.get("/projects/{project}/export", _nothing, {"state": states})
    return HttpRequest(
        method=request.method, path=request.path, query=request.query, read=lambda reply: reply.lines(),
        is_repeatable=True,
    )  # fmt: skip


def import_lessons(
    at: Place, /, lines: Sequence[str], *, accept: bool = False, dry: bool = False
) -> HttpRequest[dict[str, Any]]:
    """Store the lessons of JSON lines as one change; return what became of them."""
    return at.send_lines("/projects/{project}/import", _object, lines, {"accept": accept, "dry": dry})


# The organisation


def me(at: Place, /) -> HttpRequest[Me]:
    """Return who you are, and what your token may do."""
    return at.get("/me", _record(Me))


def version(at: Place, /) -> HttpRequest[str]:
    """Return the server's version."""
    return at.get("/version", lambda value: str(value["version"]))


def organisation(at: Place, /) -> HttpRequest[Organisation]:
    """Return the organisation's name, rules and limits."""
    return at.get("/organisation", _record(Organisation))


def change_organisation(at: Place, /, **changes: Any) -> HttpRequest[Organisation]:
    """Change the organisation's name, rules or limits."""
    return at.patch("/organisation", _record(Organisation), {}, **changes)


def projects(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[TeamProject]]:
    """Return the projects that you see."""
    return at.get("/projects", _page(_record(TeamProject)), {"limit": limit, "cursor": cursor})


def project(at: Place, /) -> HttpRequest[TeamProject]:
    """Return the project's name, teams and rules."""
    return at.get("/projects/{project}", _record(TeamProject))


def add_project(
    at: Place, /, id: str, name: str, *, remote: str = "", root_commit: str = ""
) -> HttpRequest[TeamProject]:
    """Add a project; the same one again is answered as it is."""
    return at.post("/projects", _record(TeamProject), {}, id=id, name=name, remote=remote, root_commit=root_commit)


def change_project(at: Place, /, **changes: Any) -> HttpRequest[TeamProject]:
    """Change the project's name, teams, rules of review or CODEOWNERS."""
    return at.patch("/projects/{project}", _record(TeamProject), {}, **changes)


def remove_project(at: Place, /) -> HttpRequest[None]:
    """Erase the project with its lessons."""
    return at.delete("/projects/{project}", _nothing)


def members(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Member]]:
    """Return the members."""
    return at.get("/members", _page(_record(Member)), {"limit": limit, "cursor": cursor})


def member(at: Place, /, id: str) -> HttpRequest[Member]:
    """Return a member."""
    return at.get("/members/{member}", _record(Member), member=id)


def change_member(at: Place, /, id: str, **changes: Any) -> HttpRequest[Member]:
    """Change a member's role, address or name, or close the account."""
    return at.patch("/members/{member}", _record(Member), {"member": id}, **changes)


def teams(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Team]]:
    """Return the teams."""
    return at.get("/teams", _page(_record(Team)), {"limit": limit, "cursor": cursor})


def team(at: Place, /, id: str) -> HttpRequest[Team]:
    """Return a team."""
    return at.get("/teams/{team}", _record(Team), team=id)


def add_team(at: Place, /, name: str, *, handle: str = "", members: Sequence[str] = ()) -> HttpRequest[Team]:
    """Add a team."""
    return at.post("/teams", _record(Team), {}, name=name, handle=handle, members=list(members))


def change_team(at: Place, /, id: str, **changes: Any) -> HttpRequest[Team]:
    """Change a team's name, handle or members."""
    return at.patch("/teams/{team}", _record(Team), {"team": id}, **changes)


def remove_team(at: Place, /, id: str) -> HttpRequest[None]:
    """Remove a team; its members stay."""
    return at.delete("/teams/{team}", _nothing, team=id)


def tokens(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Token]]:
    """Return your tokens; an admin sees everybody's."""
    return at.get("/tokens", _page(_token), {"limit": limit, "cursor": cursor})


def add_token(
    at: Place,
    /,
    name: str,
    *,
    service: bool = False,
    role: Role | None = None,
    projects: Sequence[str] = (),
    verbs: Sequence[Verb] = (),
    days: int = 365,
) -> HttpRequest[Issued]:
    """Make a token of your own, or for an admin a program's; it never may more than you."""
    return at.post(
        "/tokens", lambda value: Issued(token=_token(value), text=value["text"]), {}, name=name,
        kind="service" if service else "personal", role=role, projects=list(projects), verbs=list(verbs), days=days,
    )  # fmt: skip


def revoke_token(at: Place, /, id: str) -> HttpRequest[Token]:
    """Revoke a token: it is useless from now on."""
    return at.delete("/tokens/{token}", _token, token=id)


def invitations(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[Invitation]]:
    """Return the invitations."""
    return at.get("/invitations", _page(_invitation), {"limit": limit, "cursor": cursor})


def invite(
    at: Place, /, *, role: Role = "writer", email: str = "", name: str = "", teams: Sequence[str] = (), days: int = 7
) -> HttpRequest[Invited]:
    """Invite a new member."""
    return at.post(
        "/invitations", lambda value: Invited(invitation=_invitation(value), text=value["text"]), {}, role=role,
        email=email, name=name, teams=list(teams), days=days,
    )  # fmt: skip


def accept_invitation(at: Place, /, text: str, *, name: str = "", token_name: str = "terminal") -> HttpRequest[Issued]:
    """Become a member by an invitation; the client needs no token for it."""
    request = at.ask(
        "/invitations/accept", lambda value: Issued(token=_token(value), text=value["text"]), text=text, name=name,
        token_name=token_name,
    )  # fmt: skip
    return replace(request, is_repeatable=False)


def revoke_invitation(at: Place, /, id: str) -> HttpRequest[None]:
    """Revoke an invitation."""
    return at.delete("/invitations/{invitation}", _nothing, invitation=id)


def audit(at: Place, /, *, limit: int = LIMIT, cursor: str = "") -> HttpRequest[ListPage[AuditEntry]]:
    """Return what was done in the organisation, newest first."""
    return at.get("/audit", _page(_record(AuditEntry)), {"limit": limit, "cursor": cursor})


def verify_audit(at: Place, /, head: str = "") -> HttpRequest[AuditCheck]:
    """Check that nobody has changed the audit log since `head` was its end."""
    return at.get("/audit/verify", _record(AuditCheck), {"head": head})
