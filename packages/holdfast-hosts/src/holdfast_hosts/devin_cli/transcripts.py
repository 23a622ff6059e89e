"""Turns Devin CLI's sessions into events: the database `sessions.db`.

Messages are nodes of a forest, most of them on abandoned branches. The session's main chain is walked from its end to
its beginning. Sources: several independent readers of the database; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import (
    VALUE_LIMIT,
    instant,
    open_foreign,
    parse_object,
    settings_folder,
    state_folder,
)
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, open_calls
from holdfast.hosts.sdk.toolcalls import response_text
from holdfast.outside.sqlitefile import ForeignDatabase

CHANNELS = ("cli", "cli-next")
CHAIN = f"""
WITH RECURSIVE chain (node_id, parent_node_id, chat_message, created_at, depth) AS (
    SELECT node_id, parent_node_id, chat_message, created_at, 0 FROM message_nodes
    WHERE session_id = ?1 AND node_id = ?2
    UNION ALL
    SELECT m.node_id, m.parent_node_id, m.chat_message, m.created_at, depth + 1 FROM message_nodes m
    JOIN chain ON m.node_id = chain.parent_node_id WHERE m.session_id = ?1 AND depth < 100000
) SELECT chat_message, created_at FROM chain WHERE length(chat_message) < {VALUE_LIMIT} ORDER BY depth DESC
"""


def find(host: Adapter, home: str) -> list[str]:
    """Return the existing databases of both channels."""
    roots = (os.path.join(home, ".local", "share"), state_folder(home), settings_folder(home))
    paths = (os.path.join(root, "devin", name, "sessions.db") for root in dict.fromkeys(roots) for name in CHANNELS)
    return [path for path in paths if os.path.exists(path)]


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of sessions that are not hidden. Raises OSError or HostConfigError."""
    with open_foreign(path) as opened:
        hidden = "hidden" if "hidden" in opened.columns("sessions") else "0"
        sessions = list(opened.rows(f"SELECT id, working_directory, main_chain_id, {hidden} FROM sessions ORDER BY id"))
        for session, folder, end, is_hidden in sessions:
            if not is_hidden and end is not None:
                telling = TranscriptReplay(host, str(session), new_id)
                telling.stand(cwd=text_of(folder))
                yield from _tell(telling, opened, session, end)


def _tell(telling: TranscriptReplay, opened: ForeignDatabase, session: object, end: object) -> Iterator[Event]:
    seen: set[str] = set()
    for value, at in opened.rows(CHAIN, session, end):
        message = parse_object(value)
        name = text_of(message.get("message_id"))
        if name and name in seen:
            continue
        seen.add(name)
        about = fields_of(message.get("metadata"))
        telling.stand(at=instant(about.get("created_at")) or instant(at), model=text_of(about.get("generation_model")))
        yield from _message(telling, message, about)


def _message(telling: TranscriptReplay, message: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Event]:
    content = response_text(message.get("content"))
    if message.get("role") == "user" and about.get("is_user_input") is not False:
        yield from telling.prompt(content)
    elif message.get("role") == "assistant":
        yield from telling.reply(content)
        open_calls(telling, message.get("tool_calls"))
    elif message.get("role") == "tool":
        result = fields_of(fields_of(about.get("extensions")).get("chisel/tool_result_meta"))
        error = (content or "failed") if result.get("success") is False else ""
        response = {"stdout": content, "content": content, **UNANSWERED}
        yield from telling.close(text_of(message.get("tool_call_id")), response, error)
