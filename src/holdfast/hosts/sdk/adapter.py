"""The base class of adapters: a host is present if one of its folders is, and may keep no transcripts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.hooks import parse_hook, render_nested
from holdfast.hosts.sdk.payloads import fields_of, looks_up, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.ports.host import Approvals, ConfigEdit, HostProfile, InstallPlan

ANY_TEXT = Briefing(text="text")
SILENCE = ("{}", "\n")


class Adapter:
    """The parts of `ports.host.Host` that many hosts share: hooks in Claude Code's shape, no transcripts.

    An adapter whose hooks have another shape overrides `translate` and `render`.
    """

    name = ""
    folders: tuple[str, ...] = ()
    """Paths under the user's home; the host is present if one exists. The first holds its files."""
    late = False
    """If true, the host takes nothing before a tool runs; lessons come with the result of a read or a search."""

    tells_end = True
    """Whether its hooks report the end of a session."""
    takes_end = False
    """Whether an agent that is about to end gets context from a hook, and goes on with it."""

    def __init__(self, config_dir: str = "") -> None:
        self._config_dir = config_dir

    def root(self, home: str) -> str:
        """Return the folder of its files: the configured one, otherwise the first of its folders."""
        return self._config_dir or os.path.join(home, *self.folders[0].split("/"))

    def find(self, home: str) -> str:
        """Return the first existing path of the configured folder and its folders; empty if none exists."""
        paths = (self._config_dir, *(os.path.join(home, *folder.split("/")) for folder in self.folders))
        return next((path for path in paths if os.path.exists(path)), "")

    def approvals(self, home: str) -> Approvals | None:
        """Return its approvals of hooks; None for a host that runs every registered hook."""
        return None

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload in Claude Code's shape. The output still uses the host's own name of the hook."""
        return payload

    def parse_hook(self, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
        """Parse a hook's stdin object. Raises InvalidValueError if it is not this host's."""
        translated = self.translate(payload)
        call = parse_hook(self.name, translated, at, new_id)
        if self.late and call.name == "PostToolUse":
            tool, arguments = text_of(translated.get("tool_name")), fields_of(translated.get("tool_input"))
            call = replace(call, **looks_up(tool, arguments))
        if call.moment == "before_end" and not self.takes_end:
            call = replace(call, moment=None)
        if call.ends_turn and not self.tells_end:
            call = replace(call, may_be_last=True)
        own = text_of(fields_of(payload).get("hook_event_name")) or call.name
        call = call if own == call.name else replace(call, name=own)
        # No recall for what cannot be delivered: it would cost time, and count as delivered.
        return replace(call, moment=None) if call.moment and self.render(call, ANY_TEXT) in SILENCE else call

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's whole stdout."""
        return render_nested(call, briefing)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return absolute paths of its transcripts, least recently written first."""
        return ()

    def find_in_project(self, root: str) -> Sequence[str]:
        """Return absolute paths of transcripts that it keeps inside a project; none for most hosts."""
        return ()

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a transcript's lines; none if its transcripts are read as whole files."""
        return iter(())

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a file that is read as a whole. Raises OSError or HostConfigError."""
        return iter(())


def check_scope(host: str, scope: str, has: Sequence[str] = ("user",)) -> None:
    """Raise InvalidValueError unless the host can be set up in that scope."""
    if scope not in has:
        raise InvalidValueError(f"{host} has no {scope} set-up", hint=f"use --{' or --'.join(has)}")


class McpClient(Adapter):
    """An adapter without hooks. Subclasses define `profile` and `servers_file`, and override what differs."""

    servers: tuple[str, ...] = ("mcpServers",)
    """Keys from the top of the file to the object that holds the servers."""

    comments = False
    """Whether the host allows comments in that file."""

    @property
    def profile(self) -> HostProfile:
        """What the host can do, and where its files are."""
        raise NotImplementedError

    def servers_file(self, home: str) -> str:
        """Return the absolute path of the user's file that registers servers."""
        raise NotImplementedError

    def entry(self, words: Sequence[str]) -> Any:
        """Return the server's entry for its program and arguments."""
        return {"command": words[0], "args": list(words[1:])}

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edit of the user's file."""
        check_scope(self.name, scope)
        value = self.entry(server_words(command, self.name))
        edit = ConfigEdit(
            file=self.servers_file(home), path=self.servers, key=SERVER_NAME, value=value, **OUR_MARKS,
            comments=self.comments,
        )  # fmt: skip
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)
