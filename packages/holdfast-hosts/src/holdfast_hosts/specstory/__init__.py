"""Reads SpecStory's exports of other agents' conversations: `.specstory/history/*.md` in a project.

Turns begin with `_**User**_` or `_**Assistant**_`, in newer versions with a time or a model. Since version 2, tools are
in `<tool-use>`; for older versions see `olderform`. Old exports have no times; the title's is used. Sources: exports in
public repositories, Markdown v1 and v2.1; 2026-11-22.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import find_files, instant, read_text, written_at
from holdfast.hosts.sdk.payloads import shorten
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay
from holdfast.ports.host import Host, HostProfile
from holdfast_hosts._recorded import Recorded
from holdfast_hosts.specstory.olderform import OlderTurns, change

FOLDER = ".specstory"
TURN = re.compile(r"^_?\*\*(User|Assistant|Agent)\b([^*\n]*)\*\*_?[ \t]*$", re.MULTILINE)
SESSION = re.compile(r"<!-- .*?Session ([\w-]+) \(([^)]*)\) -->")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z?")
TOOL_USE = re.compile(r'<tool-use data-tool-type="(\w+)" data-tool-name="([^"]*)">(.*?)</tool-use>', re.DOTALL)
ASIDE = re.compile(r"<(think|details)\b[^>]*>.*?</\1>", re.DOTALL)
THOUGHT = re.compile(r"<think\b[^>]*>.*?</think>", re.DOTALL)
BODY_LIMIT = 200_000
"""Characters of a turn that is searched for tools: the search looks from each beginning for an end."""
RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
"""Separates what the agent said before and after a tool."""
QUOTED = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return SpecStory()


class SpecStory(Recorded):
    """The adapter for SpecStory; implements `ports.host.Host`."""

    name = "specstory"
    folders = (FOLDER,)

    @property
    def profile(self) -> HostProfile:
        """Where its exports are."""
        return HostProfile(
            title="SpecStory",
            transcripts=".specstory/history in each project",
            grows_by_lines=False,
            transcript_files=(".specstory/history/*.md",),
            transcript_marks=(("<!--GeneratedbySpecStory",),),
            sources=("exports in public repositories, 2026-11-22",),
        )

    def find_in_project(self, root: str) -> Sequence[str]:
        """Return a project's exports."""
        return find_files(os.path.join(root, FOLDER, "history"), (".md",))

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of an export. Raises OSError or HostConfigError."""
        text = read_text(path)
        turns = list(TURN.finditer(text))
        head = text[: turns[0].start()] if turns else ""
        named = SESSION.search(head)
        telling = TranscriptReplay(self, named[1] if named else os.path.splitext(os.path.basename(path))[0], new_id)
        telling.stand(at=_time(head) or written_at(path), cwd=_root(path))
        older = OlderTurns(telling)
        ends = [*(turn.start() for turn in turns[1:]), len(text)]
        for turn, end in zip(turns, ends, strict=False):
            telling.stand(at=_time(turn[2]))
            body = text[turn.end() : end].strip().removesuffix("---")
            if turn[1] == "User":
                yield from telling.prompt(body.strip())
            elif "<tool-use " in body:
                yield from _agent(telling, body)
            else:
                yield from older.read(THOUGHT.sub("", shorten(body, BODY_LIMIT)))


def _agent(telling: TranscriptReplay, body: str) -> Iterator[Event]:
    body = shorten(body, BODY_LIMIT)
    for part in RULE.split(ASIDE.sub("", TOOL_USE.sub("", body))):
        yield from telling.reply(part)
    for kind, _name, inside in TOOL_USE.findall(body):
        summary, _, rest = inside.partition("</summary>")
        quoted = QUOTED.search(summary) or QUOTED.search(rest)
        if quoted and kind == "shell":
            output = "\n".join(text for _, text in FENCE.findall(rest))
            yield from telling.call("Bash", {"command": quoted[1]}, {"stdout": output, **UNANSWERED})
        elif quoted and kind == "write":
            yield from telling.call("Edit", {"file_path": quoted[1], **_change(rest)}, {})
        elif quoted and kind == "read":
            yield from telling.call("Read", {"file_path": quoted[1]}, {})


def _change(text: str) -> dict[str, str]:
    """Return the removed and added text of the first diff, or the first text that is shown."""
    language, shown = next(iter(FENCE.findall(text)), ("", ""))
    return change(shown) if language == "diff" else {"new_string": shown}


def _time(text: str) -> datetime | None:
    match = TIME.search(text)
    return instant(match[0].replace(" ", "T")) if match else None


def _root(path: str) -> str:
    """Return the folder that contains the export's `.specstory`; empty for an export elsewhere."""
    above, _, _ = os.path.abspath(path).replace(os.sep, "/").rpartition(f"/{FOLDER}/")
    return above.replace("/", os.sep)
