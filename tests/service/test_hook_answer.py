"""What a hook's answer leaves in the log: what the host was told, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.capture.observe import ends_of
from holdfast.domain.event import TEXT_LIMIT
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreLockedError, StoreReadOnlyError
from holdfast.ports.services import Services
from holdfast.service import hook
from holdfast.testing.builders import make_event

RULE = "High water is kept in centimetres above chart datum."


class Refusing:
    """A store that reads and refuses some of its writes."""

    def __init__(self, store: Any, *methods: str) -> None:
        self._store = store
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        if name in self._methods:
            return self._refuse
        return getattr(self._store, name)

    def _refuse(self, *_arguments: object) -> None:
        raise StoreReadOnlyError("the disk is read-only")


class RecordingReply:
    """A reply whose host is told what `choose` makes of the answer and of what was offered before."""

    def __init__(self, which: str = "answer") -> None:
        self.which = which
        self.offers: list[str] = []
        self.answer = ""

    def offer(self, text: str) -> None:
        self.offers.append(text)

    def write_answer(self, text: str) -> str | None:
        self.answer = text
        return {"answer": text, "offer": self.offers[-1] if self.offers else None, "nothing": None}[self.which]


class Kept:
    """Remembers what the store could not take."""

    def __init__(self) -> None:
        self.calls: list[tuple[Location | None, HookCall]] = []
        self.deliveries: list[Delivery] = []

    def keep_events(self, services: Services, location: Location | None, call: HookCall) -> None:
        self.calls.append((location, call))

    def keep_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        self.deliveries += deliveries


@pytest.fixture
def ruled(memory: Memory) -> Memory:
    memory.remember(RULE, kind="constraint", files=["src/tides.py"])
    return memory


def before_edit(memory: Memory, **fields: Any) -> HookCall:
    return HookCall(
        host="claude-code", name="PreToolUse", session=SessionId("s1"), cwd=memory.folder, moment="before_file",
        paths=(f"{memory.folder}/src/tides.py",), edits=True, **fields,
    )  # fmt: skip


def logged(memory: Memory) -> list[str]:
    return [delivery.moment for delivery in memory.log()]


def test_what_the_host_was_shown_is_logged_and_what_came_too_late_is_not(ruled: Memory) -> None:
    hook.attend(ruled, before_edit(ruled), RecordingReply("nothing"))
    assert logged(ruled) == []
    reply = RecordingReply()
    hook.attend(ruled, before_edit(ruled), reply)
    assert "centimetres" in reply.answer
    assert logged(ruled) == ["before_file"]


def test_before_a_close_look_the_unverified_answer_is_offered_and_logged_when_it_was_shown(
    ruled: Memory, project: Path
) -> None:
    (project / "src" / "tides.py").write_text("HIGH = 5\n")
    ruled.services = replace(ruled.services, low_latency=True)
    reply = RecordingReply("offer")
    hook.attend(ruled, before_edit(ruled), reply)
    (offered,) = reply.offers
    assert "not verified: src/tides.py changed since" in offered
    assert "not verified" not in reply.answer
    assert "src/tides.py changed since" in reply.answer
    assert logged(ruled) == ["before_file"]


def test_nothing_is_offered_where_no_close_look_is_needed(ruled: Memory) -> None:
    ruled.services = replace(ruled.services, low_latency=True)
    reply = RecordingReply()
    hook.attend(ruled, before_edit(ruled), reply)
    assert reply.offers == []


@pytest.mark.parametrize("refused", [("record",), ("record", "mark"), ("record", "mark", "append_events")])
def test_a_log_that_cannot_be_written_is_no_reason_to_deliver_nothing(
    ruled: Memory, project: Path, refused: tuple[str, ...]
) -> None:
    (project / "src" / "tides.py").write_text("HIGH = 5\n")
    ruled.location  # noqa: B018 - a folder is known from an earlier session
    complaints: list[str] = []
    reply, later = RecordingReply(), Kept()
    memory = Memory(ruled.folder, settings=ruled.settings)
    try:
        memory.services = replace(memory.services, store=Refusing(memory.services.store, *refused))
        call = before_edit(memory, events=(make_event(session="s1", key="k1", cwd=memory.folder, project=""),))
        hook.attend(memory, call, reply, lambda step, exc: complaints.append(step), later=later)
    finally:
        ruled.services.store.__exit__(None, None, None)
        memory.close()
    assert "centimetres" in reply.answer
    assert [delivery.session for delivery in later.deliveries] == ["s1"]
    assert "log" in complaints
    assert len(later.calls) == ("append_events" in refused)


def test_events_of_a_folder_whose_project_cannot_be_determined_are_stored_for_later(ruled: Memory) -> None:
    def locked(folder: str) -> Location:
        raise StoreLockedError("another process writes")

    class Workspace:
        def __getattr__(self, name: str) -> Any:
            return locked if name == "locate" else getattr(ruled.services.workspace, name)

    reply, later = RecordingReply(), Kept()
    memory = replace_parts(ruled, workspace=Workspace())
    call = before_edit(ruled, events=(make_event(session="s1", key="k1", cwd=ruled.folder, project=""),))
    hook.attend(memory, call, reply, later=later)
    assert reply.answer == "{}"
    assert [location for location, _ in later.calls] == [None]


def replace_parts(memory: Memory, **parts: Any) -> Any:
    return memory.with_services(replace(memory.services, **parts))


def test_a_delivery_requested_by_a_client_is_given_although_it_cannot_be_logged(ruled: Memory) -> None:
    refusing = replace_parts(ruled, store=Refusing(ruled.services.store, "record"))
    briefing = refusing.inject(before_edit(ruled))
    assert [item.lesson.insight for item in briefing.items] == [RULE]
    assert "not logged: the disk is read-only" in briefing.degraded


# What is searched for secrets


def test_megabytes_are_cut_before_they_are_searched() -> None:
    text = "first\n" + "x" * 5_000_000 + "\nlast"
    short = ends_of(text)
    assert len(short) < 5 * TEXT_LIMIT
    assert short.startswith("first\n")
    assert short.endswith("\nlast")
    assert ends_of("as it is") == "as it is"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<private>", "</private>"),
        ("<PRIVATE>", "</Private>"),
        ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
    ],
)
def test_a_tail_within_a_private_span_begins_after_it(opening: str, closing: str) -> None:
    middle, secret = "x" * 200_000, "word of mine\n" * 1_000
    assert secret[:13] not in ends_of(f"{middle}{opening}{middle}{secret}{closing} public")
    assert ends_of(f"{middle}{opening}{middle}{secret}{closing} public").endswith(" public")
    assert secret[:13] not in ends_of(f"{middle}{opening}{middle}{secret}")
    assert secret[:13] in ends_of(f"{middle}{opening}{closing}{middle}{secret}")
