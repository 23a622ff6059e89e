"""Finds the commits that a session made, and their subjects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from holdfast.domain.event import Event
from holdfast.text.shell import simple_commands


def commits_in(events: Iterable[Event]) -> Iterator[tuple[Event, str]]:
    """Yield the event and the subject of each commit; its subject is empty where nobody says it."""
    for event in events:
        if event.kind != "tool_result" or "commit" not in event.command or event.exit_code not in (0, None):
            continue
        commands = [words for words in simple_commands(event.command) if words[0] == "git" and "commit" in words[1:4]]
        if commands and not (event.exit_code is None and "nothing to commit" in event.text):
            yield event, _subject(event.text, commands[-1])


def _subject(output: str, words: Sequence[str]) -> str:
    """Return a commit's subject, from git's output `[main 1a2b3c4] Subject`, else from the command's message."""
    for line in output.splitlines():
        if line.startswith("[") and "] " in line:
            return line.partition("] ")[2].strip()
    for flag, message in pairwise(words):
        is_message = flag == "--message" or (
            flag[:1] == "-" and flag[1:2] != "-" and flag.endswith("m")
        )  # -m, -am, -qam
        if is_message and not message.startswith("$("):
            return (message.strip().splitlines() or [""])[0]
    return ""
