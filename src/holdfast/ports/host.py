"""Host: one agent program. Payloads and transcripts to events, briefings to payloads, installation as data."""

from __future__ import annotations

from holdfast.domain.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Protocol

    from holdfast.domain.briefing import Briefing
    from holdfast.domain.event import Event
    from holdfast.domain.hookcall import HookCall
else:
    Protocol = object


class JsonEdit(Frozen):
    """One thing to have in a host's JSON file, and how to know it again: surfaces apply it, text-preserving."""

    file: str
    """Absolute path; created when it is not there."""
    path: tuple[str, ...]
    """Keys from the top to the object or list that takes the value."""
    value: Any
    """For an object: the member's value under `key`. For a list: the element to append."""
    key: str = ""
    """The member's name; empty when `path` names a list."""
    ours: str = ""
    """A text that only an entry of ours contains (our program's path): an entry with it is replaced."""


class InstallPlan(Frozen, nested={"edits": JsonEdit}):
    """What setup would change, in order, and what it cannot do, in words for the user."""

    host: str
    scope: str
    edits: tuple[JsonEdit, ...] = ()
    notes: tuple[str, ...] = ()


class Host(Protocol):
    """An adapter for one agent program."""

    name: str

    def parse_hook(self, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
        """What a hook's stdin object says; an unknown hook gives a call without events or moment.

        Raises InvalidValueError when the payload is not this host's.
        """
        ...

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """The hook's whole stdout: one JSON object; `{}` when there is nothing to say."""
        ...

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Absolute paths of the transcripts on this machine, oldest first."""
        ...

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Events of a transcript's lines; half-written and foreign lines are skipped.

        `session` is used where the lines do not name one. Our own injected text is left out.
        """
        ...

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """The edits that register our hooks and MCP server. `command` is the interpreter and the package's folder."""
        ...
