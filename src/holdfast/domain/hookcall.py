"""HookCall: the content of one hook payload, independent of the host."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.event import Event
from holdfast.domain.vocabulary import Moment, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One parsed hook payload: the events to store and the moment, if any, at which to deliver."""

    host: str
    name: str
    """The host's own name for the hook, repeated in the answer."""
    session: SessionId
    cwd: str
    events: tuple[Event, ...] = ()
    moment: Moment | None = None
    prompt: str = ""
    paths: tuple[str, ...] = ()
    """Files about to be read or edited, as the host named them."""
    edits: bool = False
    """The paths are about to be edited, not only read."""
    excerpts: tuple[str, ...] = ()
    """The texts of the first file that are about to be replaced, verbatim; empty for a whole file."""
    writes: tuple[str, ...] = ()
    """The whole texts that the call is about to write into files."""
    lines: tuple[int, int] = (0, 0)
    """The lines of the first file about to be read, from 1, both ends included; zeros for a whole file."""
    command: str = ""
    search: str = ""
    """The pattern that the agent searches the code for, with a search tool or in the command."""
    error: str = ""
    agent: str = ""
    """The sub-agent's id; empty for the session's own agent."""
    rules_read: tuple[str, ...] = ()
    """Rules files that the host says it has given to the agent."""
    transcript: str = ""
    """Absolute path of the session's transcript; only set where a turn or the session ends."""
    ends_turn: bool = False
    """The agent has stopped or is about to lose its context, so this is a good time to learn."""
    ends_session: bool = False
    may_be_last: bool = False
    """The turn ends in a host that never reports the end of a session: start a learner of its own now."""


def render_errand(call: HookCall, folder: str = "") -> str:
    """Serialise a learner's request as one line of tab-separated fields.

    The fields are the folder and, for a session or turn that ended, its host, id and transcript.
    """
    ended = (call.host, call.session, call.transcript) if call.ends_session or call.ends_turn else ("", "", "")
    return "\t".join(part.replace("\t", " ").replace("\n", " ") for part in (call.cwd or folder, *ended))


def parse_errand(text: str) -> HookCall:
    """Parse a learner's request into a call with just those fields; missing fields are empty."""
    cwd, host, session, transcript, *_ = (*text.split("\t"), "", "", "", "")
    return HookCall(host=host, name="", session=SessionId(session), cwd=cwd, transcript=transcript)
