"""Host: one agent program. Payloads and transcripts to events, briefings to payloads, installation as data."""

from __future__ import annotations

from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Protocol

    from holdfast.domain.briefing import Briefing
    from holdfast.domain.event import Event
    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.vocabulary import Moment
else:
    Protocol = object


class ConfigEdit(Frozen):
    """One thing to have in a host's configuration file, and how to know it again: surfaces apply it, text-preserving.

    The file's name tells its form: `.toml`, `.yaml` or `.yml`; all else is JSON, with or without comments.
    """

    file: str
    """Absolute path; created when it is not there."""
    path: tuple[str, ...]
    """Keys from the top to the object or list that takes the value."""
    value: Any
    """For an object: the member's value under `key`. For a list: the element to append."""
    key: str = ""
    """The member's name; empty when `path` names a list."""
    ours: str = ""
    """A text that only an entry of ours contains (our program's path): an entry with it is replaced."""
    formerly: tuple[str, ...] = ()
    """Texts that only entries of older versions of ours contain; such an entry is replaced, too."""
    comments: bool = False
    """The host takes comments and trailing commas in its JSON."""
    shared: bool = False
    """The file must have this member, whoever needs it: one that is there stays as it is, also after us."""

    def marks(self, text: str) -> bool:
        """Whether the text is an entry of ours, of this version or of an older one."""
        return any(mark in text for mark in (self.ours, *self.formerly))


class BlockEdit(Frozen):
    """A block of ours between markers in a text file of the user's, such as AGENTS.md; the rest stays theirs."""

    file: str
    text: str
    """What stands between the markers, without them."""
    script: bool = False
    """The file is a shell script: the markers are comments of the shell; else of Markdown."""
    label: str = ""
    """In the markers, where a file has several blocks of ours."""
    config: bool = False
    """With `script`: the file has comments of the shell, but is no program."""


class OwnFile(Frozen):
    """A whole file of ours. A file of that name that is not ours is never written over."""

    file: str
    text: str
    ours: str
    """A text that only a file of ours contains."""
    formerly: tuple[str, ...] = ()
    """Texts that only files of older versions of ours contain."""
    script: bool = False
    """The file is executable."""

    def marks(self, text: str) -> bool:
        """Whether the text is a file of ours, of this version or of an older one."""
        return any(mark in text for mark in (self.ours, *self.formerly))


if TYPE_CHECKING:
    Edit = ConfigEdit | BlockEdit | OwnFile


class InstallPlan(Frozen):
    """What setup would change, in order, and what it cannot do, in words for the user."""

    host: str
    scope: str
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()


class RulesTarget(Frozen):
    """A file in a project in which a host reads standing rules."""

    file: str
    """Relative to the project's root. With `{slug}`: whole files of ours, one for each scope of paths."""
    front_matter: str = ""
    """Text before the rules of a whole file, with `{globs}` and `{description}` filled in; without `{globs}` the host
    cannot tell paths apart."""
    always: str = ""
    """The same for the file whose rules hold everywhere."""
    globs: str = "comma"
    """How `{globs}` is written: `comma` (a,b), `list` (["a", "b"])."""
    limit_chars: int = 0
    """Longest file the host takes; 0: no limit is known."""
    first_of: tuple[str, ...] = ()
    """Files of which the host reads only the first that is there, this one among them."""


class Headless(Frozen):
    """How the host's program answers one prompt without a terminal, without tools and without our hooks."""

    program: str
    """The program's name on the PATH."""
    arguments: tuple[str, ...] = ()
    """Arguments; `{prompt}` is where the prompt goes, `{answer}` the file the answer is written to.
    Without `{prompt}` the prompt is given on stdin."""
    answer: str = ""
    """Dotted name of the field of the JSON object on stdout that holds the answer; empty: stdout is the answer."""
    cost: str = ""
    """Dotted name of the field with the cost in dollars, where there is one."""
    model: str = ""
    """The cheapest model that serves, in the host's words; empty: the host's own default."""
    model_option: str = ""
    """The option before the model's name."""


class HostMarks(Frozen):
    """How a host is told before its adapter is loaded: `scripts/render_host_marks.py` makes `lean/hostmarks` of it."""

    started: str = ""
    """A variable that it sets for what it starts."""
    started_rank: int = 0
    """Where the variables of several hosts are set: the lowest rank is the host that was started inside the others."""
    session: str = ""
    """A variable with the session's id that it sets for the MCP servers it starts."""
    folder: str = ""
    """The variable that moves the folder it keeps its files in."""
    client_names: tuple[str, ...] = ()
    """How the names begin by which its MCP client introduces itself, beside the host's own."""
    is_unmarked: bool = False
    """It runs packages that serve several hosts, and marks nothing: where no other mark is found, it is this one."""
    is_imitated: bool = False
    """Other hosts run the hooks in its files too, and have hooks of their own."""


class HostPackage(Frozen):
    """The plug-in package that is built for the host."""

    layout: str
    """`plugin`: commands, skills, hooks and server in one folder; `extension`: the same, commands as TOML."""
    manifest: str
    """The manifest's file."""
    marketplace: str = ""
    """A file beside the package that offers it as a local marketplace; empty: none is built."""
    hooks: tuple[tuple[Any, ...], ...]
    """Those that setup registers: (hook, matcher, keys) or, with `flat`, (hook, keys)."""
    hook_host: str
    """What the hook's command says which host calls: its name, or `any` where others run the package too."""
    flat: bool = False
    """A hook is one object, without groups and matchers."""
    plain_exit: bool = False
    """The command is one for sh and PowerShell alike; otherwise Windows has keys of its own."""


class HookApproval(Frozen):
    """One of our hooks as a host sees it that runs only approved ones."""

    key: str
    digest: str
    state: str
    """trusted, untrusted or modified."""


class Approvals(Protocol):
    """A host's approvals of hooks: it skips a hook, without a word, until its user has approved that very command."""

    title: str
    """What its users call the host."""
    by_hand: str
    """How a user approves."""

    def find(self) -> Sequence[HookApproval]:
        """Our hooks in the user's file, asked of the host. Raises HostConfigError when it does not answer."""
        ...

    def plan(self, hooks: Sequence[HookApproval]) -> Sequence[ConfigEdit]:
        """The edits that approve these hooks, as the host writes them when its user does."""
        ...


class HostProfile(Frozen):
    """What a host can do and where: its row of `setup --list` and of docs/reference/hosts.md."""

    title: str
    """The name its makers give it."""
    mcp: str = ""
    """The user's file that registers MCP servers, `~` for the home folder; empty: it is no MCP client."""
    hooks: str = ""
    """The user's file that registers hooks or holds our plug-in; empty: it has none."""
    moments: tuple[Moment, ...] = ()
    """When its hooks can hand something to the model."""
    transcripts: str = ""
    """Where it keeps its sessions in a form that can be read; empty: nowhere."""
    grows_by_lines: bool = True
    """Transcripts only grow, line by line, so that reading goes on where it stopped; else they are read whole."""
    transcript_files: tuple[str, ...] = ()
    """How the paths of its transcripts end, with `/` between names and `*` for any of them: tells files apart that a
    user names. The host with the longest that fits is it."""
    transcript_marks: tuple[tuple[str, ...], ...] = ()
    """Texts that stand together, white space left out, in one of the first lines of its transcripts, or at the
    beginning of one that is no list of JSON lines; any tuple of them is enough. Empty: content does not tell."""
    rules: tuple[RulesTarget, ...] = ()
    """Files with standing rules that it reads in a project and we may write; with `{slug}` before others."""
    reads: tuple[str, ...] = ()
    """More files with standing rules that it reads, `*` for any name: what stands in one need not be told again."""
    headless: Headless | None = None
    """How to ask its model one thing; None where it cannot be asked without a terminal."""
    stop_hook: str = ""
    """Its hook, by its own name, whose answer can let the agent go on when it stops; empty: it has none."""
    stop_reply: str = ""
    """That answer, JSON with `{reason}` where the reason stands as a JSON text."""
    marks: HostMarks = HostMarks()
    """How it is told before its adapter is loaded."""
    context_file: str = ""
    """The file with standing rules whose whole text it puts into every context; empty: another host's, or none."""
    skills_folder: str = ""
    """The folder of a project in which it looks for Agent Skills and into which we write them; empty: none."""
    instructions_tokens: int = 0
    """Most tokens of a brief in the MCP server's instructions, where it cuts them; 0: no limit is known."""
    package: HostPackage | None = None
    """The plug-in package that is built for it."""
    package_records: tuple[tuple[str, str], ...] = ()
    """Files under the user's home, and what stands in one when our plug-in package is installed in the host."""
    notes: tuple[str, ...] = ()
    """What a user should know: needs trust, has no end of a session, ..."""
    sources: tuple[str, ...] = ()
    """Where these facts are from, with the date they were looked up."""


class Host(Protocol):
    """An adapter for one agent program."""

    name: str

    @property
    def profile(self) -> HostProfile:
        """What the host can do and where."""
        ...

    def approvals(self, home: str) -> Approvals | None:
        """Its approvals of hooks; None for a host that runs what is in its files."""
        ...

    def find(self, home: str) -> str:
        """The path that shows that the host is on this machine, or an empty string."""
        ...

    def parse_hook(self, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
        """What a hook's stdin object says; an unknown hook gives a call without events or moment.

        Raises InvalidValueError when the payload is not this host's.
        """
        ...

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """The hook's whole stdout: one JSON object, `{}` when there is nothing to say; or, for a host that hands plain
        text to the model, that text or a blank line: empty is what a server says that was too late."""
        ...

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Absolute paths of the transcripts on this machine, oldest first; none where the host keeps none."""
        ...

    def find_in_project(self, root: str) -> Sequence[str]:
        """Absolute paths of the transcripts that the host keeps inside a project's folder; none for most."""
        ...

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Events of a transcript's lines; half-written and foreign lines are skipped.

        `session` is used where the lines do not name one. Our own injected text is left out. Only for a host whose
        transcripts grow by lines.
        """
        ...

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Events of all sessions in a file that is read whole. Raises OSError or HostConfigError."""
        ...

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """The edits that register our hooks and MCP server.

        `command` is the interpreter, the package's folder and the launcher, all absolute.

        Raises InvalidValueError for a scope the host does not have.
        """
        ...
