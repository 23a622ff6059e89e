"""HookCall: what a host told us in one hook, in our words."""

from __future__ import annotations

from holdfast.domain.event import Event
from holdfast.domain.vocabulary import Moment, SessionId
from holdfast.lean.records import Frozen


class HookCall(Frozen, nested={"events": Event}):
    """One parsed hook payload: the events to keep and the moment, if any, to deliver at."""

    host: str
    name: str
    """The host's own name of the hook, echoed in the answer."""
    session: SessionId
    cwd: str
    events: tuple[Event, ...] = ()
    moment: Moment | None = None
    prompt: str = ""
    paths: tuple[str, ...] = ()
    """Files about to be read or edited, as the host named them."""
    edits: bool = False
    """They are about to be edited."""
    excerpts: tuple[str, ...] = ()
    """What in the first of them is about to be replaced, as it stands there; empty for a whole file."""
    writes: tuple[str, ...] = ()
    """What the call is about to write into files, whole."""
    lines: tuple[int, int] = (0, 0)
    """The lines of the first of them about to be read, from 1, both ends included; zeros for a whole file."""
    command: str = ""
    error: str = ""
    agent: str = ""
    """The sub-agent's id; empty for the session's own agent."""
    transcript: str = ""
    """Absolute path of the session's transcript; only set where a turn or the session ends."""
    ends_turn: bool = False
    """The agent stopped or is about to lose its context: a good time to learn."""
    ends_session: bool = False
    may_be_last: bool = False
    """The turn ends in a host that never says when a session ends: a learner of its own is due now."""


def render_errand(call: HookCall, folder: str = "") -> str:
    """What a learner is told in one line: the folder, and of a session that ended its host, id and transcript."""
    ended = (call.host, call.session, call.transcript) if call.ends_session else ("", "", "")
    return "\t".join(part.replace("\t", " ").replace("\n", " ") for part in (call.cwd or folder, *ended))


def parse_errand(text: str) -> HookCall:
    """The call an errand tells of, with just those fields; they are empty where the errand says nothing."""
    cwd, host, session, transcript, *_ = (*text.split("\t"), "", "", "", "")
    return HookCall(host=host, name="", session=SessionId(session), cwd=cwd, transcript=transcript)
