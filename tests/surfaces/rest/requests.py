"""A request for each operation that succeeds for whoever may call it, with what it needs made just before."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

from .world import SHOP, World

NUMBERS = count(1)


@dataclass
class Request:
    """A request without its method, which the table knows."""

    parameters: dict[str, str] = field(default_factory=dict)
    query: str = ""
    json: Any = None
    lines: list[Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> str | None:
        """The body of lines."""
        return None if self.lines is None else "".join(json.dumps(line) + "\n" for line in self.lines)


def in_project(**more: Any) -> Callable[[World], Request]:
    """Return the maker of a request that needs a project and nothing else."""
    return lambda world: Request(parameters={"project": SHOP}, **more)


def fresh_words() -> str:
    """Return a rule that no other lesson states or contradicts."""
    return f"Prefer module{next(NUMBERS)} {uuid4().hex[:12]} over handmade {uuid4().hex[:12]}"


def of_lesson(state: str = "active", **more: Any) -> Callable[[World], Request]:
    """Return the maker of a request about a fresh lesson of a member who never calls, with its version."""

    def make(world: World) -> Request:
        role = "author" if state == "active" else "proposer"
        lesson = world.lesson(fresh_words(), role=role)
        assert lesson["state"] == state
        etag = world.call("GET", f"/projects/{SHOP}/lessons/{lesson['id']}", role="author").headers["ETag"]
        return Request(parameters={"project": SHOP, "lesson": lesson["id"]}, headers={"If-Match": etag}, **more)

    return make


def of_session(world: World) -> Request:
    """Make a session with an event."""
    session = f"s{next(NUMBERS)}"
    assert world.lines(f"/projects/{SHOP}/events", [_event(session)], role="author").status_code == 200
    return Request(parameters={"project": SHOP, "session": session})


def _event(session: str) -> dict[str, str]:
    return {"session": session, "key": "prompt:1", "kind": "prompt", "at": "2026-11-20T08:00:00Z", "text": "hello"}


def with_checkpoint(world: World) -> Request:
    """Make an open task."""
    assert world.call("POST", f"/projects/{SHOP}/checkpoints", role="author", json={"goal": "a"}).status_code == 201
    return Request(parameters={"project": SHOP})


def with_change(world: World) -> Request:
    """Make a change that can be undone."""
    world.lesson(fresh_words(), role="author")
    return Request(parameters={"project": SHOP})


def two_lessons(world: World) -> Request:
    """Make two lessons, which both hold."""
    first, second = (world.lesson(fresh_words(), role="author")["id"] for _ in range(2))
    return Request(parameters={"project": SHOP}, json={"keep": first, "close": [second], "both": True})


def a_step(world: World) -> Request:
    """Make two lessons of which one may replace the other."""
    words = fresh_words()
    first, second = (world.lesson(text, role="author")["id"] for text in (words, f"{words}, and say so in the review"))
    return Request(parameters={"project": SHOP}, json={"verb": "merge", "lesson": second, "replaces": [first]})


def with_topics(**body: str) -> Callable[[World], Request]:
    """Return the maker of a request about a project with the topics `berths` and `cranes`."""

    def make(world: World) -> Request:
        project = new_project(world)
        for tag in ("berths", "cranes"):
            for number in range(3):
                world.lesson(f"{fresh_words()} {tag} {number}", tags=[tag], project=project)
        world.call("POST", f"/projects/{project}/topics/rename", json={"name": "cranes", "new": "lifts"})
        return Request(parameters={"project": project}, json=body)

    return make


def about_a_lesson(**fields: Any) -> Callable[[World], Request]:
    """Return the maker of a request whose body names a fresh lesson."""
    return lambda world: Request(
        parameters={"project": SHOP}, json={"lesson": world.lesson(fresh_words(), role="author")["id"], **fields}
    )


def new_project(world: World) -> str:
    """Make a project that only this request uses."""
    name = f"project-{uuid4().hex[:8]}"
    assert world.call("POST", "/projects", json={"id": name, "name": name}).status_code == 200
    return name


def new_team(world: World) -> str:
    """Make a team."""
    made = world.call("POST", "/teams", json={"name": uuid4().hex})
    assert made.status_code == 201
    return str(made.json()["id"])


def new_invitation(world: World, what: str = "id") -> str:
    """Make an invitation."""
    return str(world.call("POST", "/invitations", json={}).json()[what])


def new_token(world: World) -> str:
    """Make a token of a member who never calls."""
    return str(world.call("POST", "/tokens", role="author", json={"name": "spare"}).json()["id"])


def plain(**more: Any) -> Callable[[World], Request]:
    """Return the maker of a request that needs nothing."""
    return lambda world: Request(**more)


REQUESTS: dict[str, Callable[[World], Request]] = {
    "read_page": plain(),
    "read_style": plain(),
    "read_openapi": plain(),
    "read_version": plain(),
    "recall": in_project(json={"text": "how"}),
    "brief": in_project(json={"prompt": "how"}),
    "list_topics": in_project(),
    "rename_topic": with_topics(name="berths", new="docks"),
    "merge_topics": with_topics(name="berths", into="lifts"),
    "split_topic": with_topics(name="lifts"),
    "read_digest": in_project(),
    "read_stats": in_project(),
    "list_lessons": in_project(),
    "add_lesson": lambda world: Request(parameters={"project": SHOP}, json={"insight": fresh_words()}),
    "read_lesson": of_lesson(),
    "revise_lesson": lambda world: _revision(world),
    "forget_lesson": of_lesson(),
    "edit_lesson": of_lesson(json={"standing": True}),
    "retire_lesson": of_lesson(),
    "purge_lesson": of_lesson(),
    "list_history": of_lesson(),
    "read_evidence": of_lesson(),
    "list_links": of_lesson(),
    "list_changes": in_project(),
    "undo_change": with_change,
    "list_review": in_project(),
    "accept_lesson": of_lesson("candidate"),
    "reject_lesson": of_lesson("candidate"),
    "keep_lesson": of_lesson(),
    "put_off_lesson": of_lesson(),
    "bring_back_lesson": of_lesson(),
    "list_confirmations": of_lesson(),
    "add_confirmation": of_lesson(),
    "withdraw": of_lesson(),
    "list_flags": of_lesson(),
    "add_flag": of_lesson(json={"reason": "stale"}),
    "list_all_flags": in_project(),
    "list_conflicts": in_project(),
    "decide_conflict": two_lessons,
    "apply_tidying": a_step,
    "refuse_tidying": in_project(json={"step": "0123456789abcdef"}),
    "list_outcomes": in_project(),
    "list_deliveries": in_project(),
    "add_outcome": about_a_lesson(verdict="helped"),
    "list_sessions": in_project(),
    "read_session": of_session,
    "add_events": lambda world: Request(parameters={"project": SHOP}, lines=[_event(f"s{next(NUMBERS)}")]),
    "report_call": in_project(json={"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}),
    "learn_session": of_session,
    "list_checkpoints": in_project(),
    "add_checkpoint": in_project(json={"goal": "a"}),
    "read_checkpoint": with_checkpoint,
    "close_checkpoint": with_checkpoint,
    "list_documents": in_project(),
    "send_documents": in_project(json={"documents": []}),
    "list_sealed": plain(),
    "send_sealed": plain(json={"sealed": []}),
    "watch_changes": in_project(),
    "export_lessons": in_project(),
    "import_lessons": lambda world: Request(
        parameters={"project": SHOP}, lines=[{"insight": fresh_words(), "kind": "fix"}]
    ),
    "list_projects": plain(),
    "add_project": lambda world: Request(json={"id": uuid4().hex, "name": "new"}),
    "read_project": in_project(),
    "change_project": in_project(json={"name": "Shop"}),
    "remove_project": lambda world: Request(parameters={"project": new_project(world)}),
    "read_organisation": plain(),
    "change_organisation": plain(json={"name": "Acme"}),
    "list_members": plain(),
    "read_member": lambda world: Request(parameters={"member": world.home.members["author"]}),
    "change_member": lambda world: Request(parameters={"member": world.home.members["author"]}, json={"name": "Ada"}),
    "list_teams": plain(),
    "add_team": lambda world: Request(json={"name": uuid4().hex}),
    "read_team": lambda world: Request(parameters={"team": new_team(world)}),
    "change_team": lambda world: Request(parameters={"team": new_team(world)}, json={"name": uuid4().hex}),
    "remove_team": lambda world: Request(parameters={"team": new_team(world)}),
    "list_audit": plain(),
    "verify_audit": plain(),
    "read_me": plain(),
    "list_tokens": plain(),
    "add_token": plain(json={"name": "mine"}),
    "revoke_token": lambda world: Request(parameters={"token": new_token(world)}),
    "list_invitations": plain(),
    "add_invitation": plain(json={"role": "reader"}),
    "accept_invitation": lambda world: Request(json={"text": new_invitation(world, "text"), "name": "Newcomer"}),
    "revoke_invitation": lambda world: Request(parameters={"invitation": new_invitation(world)}),
}
"""By the operation's name."""


def _revision(world: World) -> Request:
    request = of_lesson()(world)
    request.json = {"insight": fresh_words()}
    return request
