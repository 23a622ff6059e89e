"""Aider: no MCP client and no hooks; it reads a file of conventions that its configuration names.

Set-up makes it read `CONVENTIONS.md`, in which `holdfast rules sync` maintains a block. Aider only warns if the file is
missing.

Sources: aider.chat/docs, conventions and YAML config file; 2026-11-21. Not run here.

Turns Aider's chat history into events: `.aider.chat.history.md` in a project, with all its sessions in a row.

A session begins with `# aider chat started at ...` (local time), a person's lines with `####`, the program's with `>`;
the rest is the agent's. Edits are blocks in the agent's words; they count only if the program reports that it applied
them. Sources: aider.chat/docs and histories in public repositories; 2026-11-21.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import read_text, written_at
from holdfast.hosts.sdk.replay import TranscriptReplay, as_it_is
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, RulesTarget

CONFIG = ".aider.conf.yml"
RULES = "CONVENTIONS.md"

HISTORY = ".aider.chat.history.md"
START = "# aider chat started at "
APPLIED = "Applied edit to "
MODEL = re.compile(r"(?:Main m|M)odel: (\S+)")
SPOKEN_COMMANDS = ("/ask ", "/code ", "/architect ", "/chat-mode ")
"""Commands whose argument is a prompt; other commands are not prompts."""
QUESTION = "(Y)es/(N)o"
"""Marks a line with the program's question and a one-word answer."""
THOUGHTS = (
    re.compile(r"<thinking-content-(\w+)>.*?(?:</thinking-content-\1>|\Z)", re.DOTALL),
    re.compile(r"-*\n?► \*\*THINKING\*\*.*?► \*\*ANSWER\*\*\n?", re.DOTALL),
)
BLOCKS_LIMIT = 200_000
"""Characters of a reply that is searched for blocks: the search looks from each beginning for an end."""
BLOCK = re.compile(
    r"^(?P<path>[^\n`]+?)\n`{3,}[^\n]*\n(?:<{5,9} SEARCH\n(?P<old>.*?)^={5,9}\n(?P<new>.*?)^>{5,9} REPLACE"
    r"|(?P<whole>.*?))\n?^`{3,}",
    re.DOTALL | re.MULTILINE,
)


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Aider()


class Aider(Adapter):
    """The adapter for Aider; implements `ports.host.Host`."""

    name = "aider"
    folders = (CONFIG, ".aider")

    @property
    def profile(self) -> HostProfile:
        """What Aider can do and where."""
        return HostProfile(
            title="Aider",
            transcripts=".aider.chat.history.md in each project",
            grows_by_lines=False,
            transcript_files=(".aider.chat.history.md",),
            transcript_marks=(("#aiderchatstartedat",),),
            rules=(RulesTarget(file=RULES),),
            notes=("Aider has neither MCP nor hooks: it reads what `holdfast rules sync` writes.",),
            sources=("aider.chat/docs/usage/conventions.html, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its configuration or program, or an empty string."""
        return super().find(home) or shutil.which("aider") or ""

    def find_in_project(self, root: str) -> Sequence[str]:
        """Return a project's history."""
        path = os.path.join(root, ".aider.chat.history.md")
        return (path,) if os.path.isfile(path) else ()

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edit that adds the conventions file to what Aider reads, for all projects or for one."""
        check_scope(self.name, scope, ("user", "project"))
        file = os.path.join(folder if scope == "project" else home, CONFIG)
        edit = ConfigEdit(file=file, path=("read",), value=RULES, ours=RULES)
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the history of chats in the home folder; other histories are in projects."""
        path = os.path.join(home, HISTORY)
        return [path] if os.path.exists(path) else []

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of all sessions in a history. Raises OSError or HostConfigError."""
        folder = os.path.dirname(os.path.abspath(path))
        for part in f"\n{read_text(path)}".split(f"\n{START}")[1:]:
            began, _, text = part.partition("\n")
            telling = TranscriptReplay(
                self, f"aider-{began.strip().replace(' ', 'T')}-{os.path.basename(folder)}", new_id, as_it_is
            )
            telling.stand(at=_began(began) or written_at(path), cwd=folder)
            yield from _Session(telling).read(text.split("\n"))


def _began(text: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d %H:%M:%S").astimezone(UTC)
    except ValueError:
        return None


class _Session:
    """Runs of lines of one speaker."""

    def __init__(self, telling: TranscriptReplay) -> None:
        self.telling = telling
        self.edits: dict[str, tuple[str, str]] = {}
        """For each file, the text that the last reply would replace, and its replacement."""

    def read(self, lines: list[str]) -> Iterator[Event]:
        """Yield the events of a session's lines."""
        run: list[str] = []
        speaker = ""
        for line in lines:
            now = "user" if line.startswith("####") else "program" if line.startswith("> ") else "agent"
            if now != speaker and (line.strip() or speaker == "user"):  # a blank line ends a prompt, but no reply
                yield from self._tell(speaker, run)
                run, speaker = [], now
            run.append(line)
        yield from self._tell(speaker, run)

    def _tell(self, speaker: str, run: list[str]) -> Iterator[Event]:
        if speaker == "user":
            yield from self.telling.prompt(_asked(run))
        elif speaker == "program":
            for line in run:
                yield from self._program(line.removeprefix("> ").strip())
        elif speaker == "agent":
            text = "\n".join(run)
            for thoughts in THOUGHTS:
                text = thoughts.sub("", text)
            blocks = BLOCK.finditer(text) if len(text) <= BLOCKS_LIMIT else ()
            self.edits = {_plain(block["path"]): _texts(block) for block in blocks}
            yield from self.telling.reply(text)

    def _program(self, line: str) -> Iterator[Event]:
        if model := MODEL.match(line):
            self.telling.stand(model=model[1])
        elif line.startswith(APPLIED):
            path = line.removeprefix(APPLIED)
            old, new = self.edits.get(path, ("", ""))
            yield from self.telling.call("Edit", {"file_path": path, "old_string": old, "new_string": new}, {})


def _asked(run: list[str]) -> str:
    """Return a person's words; empty for a command without a prompt."""
    lines = (line.removeprefix("####").strip() for line in run)
    text = "\n".join(line for line in lines if QUESTION not in line).strip()
    if text.startswith(SPOKEN_COMMANDS):
        return text.partition(" ")[2]
    return "" if text.startswith(("/", "!")) and "\n" not in text else text


def _plain(path: str) -> str:
    return path.strip().strip("*`#: ")


def _texts(block: re.Match[str]) -> tuple[str, str]:
    if block["whole"] is not None:
        return "", block["whole"]
    return block["old"].rstrip("\n"), block["new"].rstrip("\n")
