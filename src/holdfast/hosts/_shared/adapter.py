"""What adapters have in common: a host is there when one of its folders is, and may keep no transcripts."""

from __future__ import annotations

import os

from holdfast.domain.briefing import Briefing
from holdfast.errors import InvalidValueError
from holdfast.hosts._shared.hooks import parse_hook, render_nested
from holdfast.hosts._shared.payloads import call_files, fields_of, text_of
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.domain.event import Event
    from holdfast.domain.hookcall import HookCall
    from holdfast.ports.host import Approvals


ANY_TEXT = Briefing(text="text")
SILENCE = ("{}", "\n")


class Adapter:
    """The parts of `ports.host.Host` that many hosts share: hooks in Claude Code's shape, no transcripts.

    A host with hooks of another shape overrides `translate` and `render`.
    """

    name = ""
    folders: tuple[str, ...] = ()
    """Paths under the user's home of which one is there where the host is; the first holds its files."""
    keeps_transcripts = False
    """The module `transcripts` of its package reads them: `find(host, home)`, and `parse` (lines) or `read` (files)."""
    late = False
    """It takes nothing before a tool runs: what belongs to a file comes with the result of reading it."""

    tells_end = True
    """Its hooks say when a session ends."""

    def __init__(self, config_dir: str = "") -> None:
        self._config_dir = config_dir

    def root(self, home: str) -> str:
        """The folder of its files: where it was told to keep them, else the first of its folders."""
        return self._config_dir or os.path.join(home, *self.folders[0].split("/"))

    def find(self, home: str) -> str:
        """The folder it was told to use, else the first of its folders; of these, the first that is there."""
        paths = (self._config_dir, *(os.path.join(home, *folder.split("/")) for folder in self.folders))
        return next((path for path in paths if os.path.exists(path)), "")

    def approvals(self, home: str) -> Approvals | None:
        """Its approvals of hooks; None for a host that runs what is in its files."""
        return None

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The payload in Claude Code's shape; the answer still goes by the host's own name of the hook."""
        return payload

    def parse_hook(self, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
        """Parse a hook's stdin object. Raises InvalidValueError when it is not this host's."""
        translated = self.translate(payload)
        call = parse_hook(self.name, translated, at, new_id)
        if self.late and translated.get("tool_name") == "Read" and call.name == "PostToolUse":
            call = replace(call, moment="before_file", paths=call_files(fields_of(translated.get("tool_input"))))
        if call.ends_turn and not self.tells_end:
            call = replace(call, may_be_last=True)
        own = text_of(fields_of(payload).get("hook_event_name")) or call.name
        call = call if own == call.name else replace(call, name=own)
        # What cannot be handed over is not looked for: it would cost time, and count as shown.
        return replace(call, moment=None) if call.moment and self.render(call, ANY_TEXT) in SILENCE else call

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """The hook's whole stdout."""
        return render_nested(call, briefing)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Absolute paths of its transcripts, least recently written first."""
        return self._reader().find(self, home) if self.keeps_transcripts else ()

    def find_in_project(self, root: str) -> Sequence[str]:
        """Absolute paths of the transcripts that it keeps inside a project; none for most."""
        return ()

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Events of a transcript's lines; none where transcripts are read whole."""
        parse = getattr(self._reader(), "parse", None) if self.keeps_transcripts else None
        return parse(self, lines, session, new_id) if parse else iter(())

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Events of a file that is read whole. Raises OSError or HostConfigError."""
        read = getattr(self._reader(), "read", None) if self.keeps_transcripts else None
        return read(self, path, new_id) if read else iter(())

    def _reader(self) -> Any:
        return __import__(f"{type(self).__module__}.transcripts", fromlist=["find"])


def check_scope(host: str, scope: str, has: Sequence[str] = ("user",)) -> None:
    """Raise InvalidValueError unless the host can be set up in that scope."""
    if scope not in has:
        raise InvalidValueError(f"{host} has no {scope} set-up", hint=f"use --{' or --'.join(has)}")
