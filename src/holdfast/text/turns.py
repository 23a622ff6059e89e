"""Builds the turns of a session: a person's prompt with the replies to it, as they are searched.

Text that a program wrote into the user's place begins no turn, blocks that Holdfast delivered are left out, and tool
output is never part of a turn: what a search of the sessions finds is what a person or the agent said.
"""

from __future__ import annotations

from holdfast.lean.records import replace
from holdfast.ports.search import SpokenTurn
from holdfast.text.speech import FENCE, spoken_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.event import Event

TURN_LIMIT = 30_000
"""Characters of replies in one turn; the replies after them are a further turn with the same prompt."""


def turns_of(events: Iterable[Event]) -> list[SpokenTurn]:
    """Return the turns of one session's events, in order of time. Sub-agents' prompts and replies are left out."""
    turns: list[SpokenTurn] = []
    spoken = (event for event in events if event.kind in ("prompt", "reply") and not event.agent)
    for event in sorted(spoken, key=lambda event: event.at):
        text = without_deliveries(event.text).strip()
        is_prompt = event.kind == "prompt"
        text = spoken_text(text).strip() if is_prompt else text
        if not text:
            continue
        last = turns[-1] if turns and turns[-1].project == event.project else None
        if is_prompt or last is None or len(last.reply) + len(text) > TURN_LIMIT:
            prompt = text if is_prompt else last.prompt if last is not None else ""
            turns.append(
                SpokenTurn(
                    project=event.project, session=event.session, host=event.host, branch=event.branch, at=event.at,
                    prompt=prompt,
                )
            )  # fmt: skip
        if not is_prompt:
            turns[-1] = replace(turns[-1], reply=f"{turns[-1].reply}\n\n{text}".lstrip())
    return turns


def without_deliveries(text: str) -> str:
    """Return the text without the blocks that Holdfast delivered."""
    opening, closing = FENCE
    while (start := text.find(opening)) >= 0:
        end = text.find(closing, start)
        text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text
