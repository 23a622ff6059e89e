"""Asks the agent, once a session and only after real work, to state what the session taught.

It costs no call of a model, only a turn of the agent that is at work anyway, and it is not asked where a model distils
the session afterwards. An agent that ends without stating anything is let go, and not asked again.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.event import Event
from holdfast.domain.statefamilies import ASKED
from holdfast.recall.moments.context import MomentContext
from holdfast.recall.tuning import LONG_ACTS, LONG_PROMPTS

REQUEST = (
    "Before you finish: what did this session teach that its code does not show (a rule or correction of the user, a "
    "cause that took work to find, an approach that failed)? State it in one call of Holdfast's tool `remember`: a "
    "list, each entry with the lesson, its files, and as quote the exact words of this session behind it. If it taught "
    "nothing, call nothing. Then repeat your answer to the user, so that it is the last word. You are asked once."
)
OBJECTIONS = (
    "no,", "no.", "no!", "no ", "nope", "don't", "dont ", "do not", "stop", "wrong", "not like", "that's not",
    "that is not", "thats not", "actually", "instead", "undo", "revert", "never ", "wait",
)  # fmt: skip
"""Beginnings of a prompt that objects to what was just done."""


def may_ask(context: MomentContext) -> bool:
    """Return whether the session's own agent stops and was not asked yet."""
    call = context.call
    return bool(call.session) and not call.agent and not context.services.store.get_state(ASKED, call.session)


def must_ask(context: MomentContext, events: Sequence[Event]) -> bool:
    """Return whether an agent that may be asked did real work, and nothing else reads its session."""
    return is_real_work([event for event in events if not event.agent]) and context.services.asks_agent()


def note_asked(context: MomentContext) -> None:
    """Record that the session's agent was asked."""
    context.services.store.set_state(ASKED, context.call.session, "yes")


def is_real_work(events: Sequence[Event]) -> bool:
    """Return whether something was edited or committed, and it failed on the way, was corrected or took long."""
    acts = [at for at, event in enumerate(events) if event.kind == "file_edit" or "git commit" in event.command]
    if not acts:
        return False
    prompts = [(at, event.text) for at, event in enumerate(events) if event.kind == "prompt"]
    is_corrected = any(at > acts[0] and text.lstrip().lower().startswith(OBJECTIONS) for at, text in prompts)
    is_long = len(prompts) >= LONG_PROMPTS or sum(bool(event.tool) for event in events) >= LONG_ACTS
    return is_corrected or is_long or any(map(_failed, events))


def _failed(event: Event) -> bool:
    """Return whether a command failed; a tool that the host refused teaches nothing."""
    return bool(event.command) and (event.kind == "tool_failure" or event.exit_code not in (None, 0))
