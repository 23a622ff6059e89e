"""Host: the adapter for one agent program.

It turns payloads and transcripts into events and briefings into payloads. It describes its installation as data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEdit:
    """One entry of a host's configuration file, and the texts by which it is recognised later.

    `installing` applies it and preserves the rest of the file. The file's name decides its format: `.toml`, `.yaml`
    or `.yml`; every other file is JSON, with or without comments.
    """

    file: str
    """Absolute path; the file is created when it does not exist."""
    path: tuple[str, ...]
    """Keys from the top of the file to the object or list that takes the value."""
    value: Any
    """For an object: the member's value under `key`. For a list: the element to append."""
    key: str = ""
    """The member's name; empty when `path` names a list."""
    ours: str = ""
    """A text that only our entry contains (the path of our program); an entry that contains it is replaced."""
    formerly: tuple[str, ...] = ()
    """Texts that only entries of older versions of ours contain; such an entry is replaced, too."""
    comments: bool = False
    """The host accepts comments and trailing commas in its JSON."""
    shared: bool = False
    """The file needs this member whoever uses it: an existing value is not changed, and uninstalling leaves it."""

    def marks(self, text: str) -> bool:
        """Return whether the text is an entry of ours, of this version or of an older one."""
        return any(mark in text for mark in (self.ours, *self.formerly))


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockEdit:
    """Our block between markers in a text file of the user, such as AGENTS.md; the rest of the file stays theirs."""

    file: str
    text: str
    """The lines between the markers, without them."""
    script: bool = False
    """The markers are shell comments instead of Markdown ones."""
    label: str = ""
    """A label in the markers, where a file has several blocks of ours."""
    config: bool = False
    """With `script`: the file uses shell comments but is not a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A whole file of ours. A file of the same name that is not ours is never overwritten."""

    file: str
    text: str
    ours: str
    """A text that only a file of ours contains."""
    formerly: tuple[str, ...] = ()
    """Texts that only files of older versions of ours contain."""
    script: bool = False
    """The file is executable."""

    def marks(self, text: str) -> bool:
        """Return whether the text is a file of ours, of this version or of an older one."""
        return any(mark in text for mark in (self.ours, *self.formerly))


Edit = ConfigEdit | BlockEdit | OwnFile


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """The edits of one setup, in order, and notes for the user on what it cannot do."""

    host: str
    scope: str
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesTarget:
    """A file in a project from which a host reads standing rules."""

    file: str
    """Relative to the project's root. With `{slug}`: a set of files of ours, one for each scope of paths."""
    front_matter: str = ""
    """Text before the rules of a whole file, with `{globs}` and `{description}` filled in; without `{globs}` the host
    cannot tell paths apart."""
    always: str = ""
    """Text before the rules of the file whose rules hold everywhere."""
    globs: str = "comma"
    """Format of `{globs}`: `comma` (a,b) or `list` (["a", "b"])."""
    limit_chars: int = 0
    """Characters of the longest file that the host accepts; 0: no limit is known."""
    first_of: tuple[str, ...] = ()
    """A list of files with this one among them, of which the host reads only the first that exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headless:
    """How the host's program answers one prompt without a terminal, without tools and without our hooks."""

    program: str
    """The program's name on the PATH."""
    arguments: tuple[str, ...] = ()
    """Arguments; `{prompt}` stands for the prompt, `{answer}` for the file to which the answer is written.
    Without `{prompt}` the prompt is passed on stdin."""
    answer: str = ""
    """Dotted name of the field with the answer in the JSON object on stdout; empty: stdout is the answer."""
    cost: str = ""
    """Dotted name of the field with the cost in dollars, if there is one."""
    error: str = ""
    """Dotted name of the field that is true when `answer` holds an error message instead, if there is one."""
    model: str = ""
    """The cheapest model that is good enough, by the host's name for it; empty: the host's default."""
    model_option: str = ""
    """The option that takes the model's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMarks:
    """Facts that identify a host before its adapter is loaded.

    `scripts/render_host_marks.py` generates `lean/hostmarks` from them.
    """

    started: str = ""
    """A variable that the host sets for the processes it starts."""
    started_rank: int = 0
    """Decides where the variables of several hosts are set: the host with the lowest rank was started inside others."""
    session: str = ""
    """A variable with the session's id that the host sets for the MCP servers it starts."""
    folder: str = ""
    """A variable that moves the folder in which the host keeps its files."""
    client_names: tuple[str, ...] = ()
    """Beginnings of the names by which its MCP client introduces itself, besides the host's own name."""
    is_unmarked: bool = False
    """The host runs packages that serve several hosts and sets no mark; it is assumed where no other mark is found."""
    is_imitated: bool = False
    """Other hosts also run the hooks in its files, and have hooks of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPackage:
    """The plug-in package that is built for a host."""

    layout: str
    """`plugin`: commands, skills, hooks and server in one folder; `extension`: the same, commands as TOML."""
    manifest: str
    """Name of the manifest file."""
    marketplace: str = ""
    """A file beside the package that offers it as a local marketplace; empty: none is built."""
    hooks: tuple[tuple[Any, ...], ...]
    """The hooks that setup registers: (hook, matcher, keys) or, with `flat`, (hook, keys)."""
    hook_host: str
    """The host's name in the hook's command, or `any` where other hosts run the package too."""
    flat: bool = False
    """A hook is one object without groups and matchers."""
    plain_exit: bool = False
    """One command serves sh and PowerShell; otherwise Windows has keys of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookApproval:
    """One of our hooks as seen by a host that runs only approved hooks."""

    key: str
    digest: str
    state: str
    """trusted, untrusted or modified."""


class Approvals(Protocol):
    """Approvals of hooks in one host, which silently skips a hook until its user approves exactly that command."""

    title: str
    """The host's name, as its users know it."""
    by_hand: str
    """Instructions for a user to approve hooks by hand."""

    def find(self) -> Sequence[HookApproval]:
        """Ask the host for our hooks in the user's file. Raises HostConfigError when it does not answer."""

    def plan(self, hooks: Sequence[HookApproval]) -> Sequence[ConfigEdit]:
        """Return the edits that approve these hooks, in the form that the host itself writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProfile:
    """What a host supports, and where its files are: its row of `setup --list` and of docs/reference/hosts.md."""

    title: str
    """The name that its makers use."""
    mcp: str = ""
    """The user's file that registers MCP servers, `~` for the home folder; empty: the host is no MCP client."""
    hooks: str = ""
    """The user's file that registers hooks or holds our plug-in; empty: the host has none."""
    moments: tuple[Moment, ...] = ()
    """Moments at which its hooks can hand something to the model."""
    transcripts: str = ""
    """Where it keeps its sessions in a readable form; empty: nowhere."""
    grows_by_lines: bool = True
    """Transcripts only grow, line by line, so a reader can continue where it stopped; otherwise read them whole."""
    transcript_files: tuple[str, ...] = ()
    """Endings of its transcripts' paths, with `/` as separator and `*` for any name. They identify a file that a user
    names; the host with the longest matching ending is chosen."""
    transcript_marks: tuple[tuple[str, ...], ...] = ()
    """Sets of texts that identify its transcripts: all texts of one set, white space ignored, occur in one of the
    first lines, or at the beginning of a file that is no list of JSON lines. Empty: content does not identify it."""
    rules: tuple[RulesTarget, ...] = ()
    """Files with standing rules that it reads in a project and that we may write; names with `{slug}` come first."""
    reads: tuple[str, ...] = ()
    """More files with standing rules that it reads, `*` for any name: their content need not be delivered again."""
    headless: Headless | None = None
    """How to ask its model one question; None where that needs a terminal."""
    marks: HostMarks = HostMarks()
    """Facts that identify the host before its adapter is loaded."""
    context_file: str = ""
    """The file with standing rules whose whole text goes into every context; empty: another host's, or none."""
    instructions_tokens: int = 0
    """Most tokens of a brief in the MCP server's instructions, where the host cuts them; 0: no limit is known."""
    start_tokens: int = 2_300
    """Most tokens that are delivered at a session's start. The least known limit of a host is Codex's: it replaces more
    than 2,500 tokens of one handler by a preview (the types of codex-cli 0.169.0, openai/codex#22861)."""
    start_characters: int = 9_000
    """Most characters that are delivered at a session's start. Claude Code replaces more than 10,000 by a preview (its
    program 2.1.329; 2,000 characters in anthropics/claude-code#94358), Cursor drops them (@cursor/sdk 1.0.32), and
    Copilot CLI drops more than 10 KB of all hooks together (docs.github.com, hooks reference)."""
    package: HostPackage | None = None
    """The plug-in package that is built for it."""
    package_records: tuple[tuple[str, str], ...] = ()
    """Files under the user's home, each with a text that it contains when our plug-in package is installed."""
    notes: tuple[str, ...] = ()
    """Notes for users: the host needs trust, it reports no end of a session, ..."""
    sources: tuple[str, ...] = ()
    """Sources of these facts, with the dates of access."""


class Host(Protocol):
    """An adapter for one agent program."""

    name: str

    @property
    def profile(self) -> HostProfile:
        """What the host supports, and where its files are."""

    def approvals(self, home: str) -> Approvals | None:
        """Return its approvals of hooks; None for a host that runs every hook in its files."""

    def find(self, home: str) -> str:
        """Return the path that shows that the host is installed on this machine, or an empty string."""

    def parse_hook(self, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
        """Parse a hook's stdin object; an unknown hook gives a call without events or moment.

        Raises InvalidValueError when the payload is not this host's.
        """

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's whole stdout: one JSON object, `{}` when there is nothing to deliver.

        A host that hands plain text to the model gets that text, or a blank line. Empty output means that the hook
        server was too late.
        """

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return absolute paths of the transcripts on this machine, oldest first; empty where the host keeps none."""

    def find_in_project(self, root: str) -> Sequence[str]:
        """Return absolute paths of the transcripts that the host keeps inside a project's folder; usually empty."""

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of a transcript's lines; skip half-written and foreign lines.

        `session` is used where the lines do not name a session. Text that we injected is left out. Only hosts whose
        transcripts grow by lines implement this.
        """

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of all sessions in a file that is read whole. Raises OSError or HostConfigError."""

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits that register our hooks and MCP server.

        `command` is the interpreter, the package's folder and the launcher, all absolute.

        Raises InvalidValueError for a scope that the host does not have.
        """
