"""The frame of every command: the options that all share, the memory it opens, its answer, completion of its values."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import click
from click.shell_completion import CompletionItem

from holdfast import plugins
from holdfast.domain.vocabulary import STATES
from holdfast.errors import HoldfastError, StoreError
from holdfast.home.handover import waits
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli.screen import answer_json, note

if TYPE_CHECKING:
    from holdfast.bootstrap import Memory

EVERYTHING = 1_000_000
"""A limit above the number of lessons that any memory has."""
WHOLE = 1_000
"""Characters of a command's first sentence that its group's help shows: all of them."""
OFFERED = 40
"""Most ids that are offered for completion."""
NEWEST = 2_000
"""Lessons looked through for completion."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of SIGINT."""
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Call:
    """One call of a command: the values of the options that all commands share, and the memory it opens."""

    def __init__(self) -> None:
        self.folder = ""
        self.as_json = False
        self.remote = ""
        """The name of the server that answers; empty: this machine."""

    def open(self) -> Memory:
        """Open the memory of the call's folder, for a `with` statement, and take in what hooks left in the spool.

        If an earlier memory was lost, a note on stderr says so.
        """
        from holdfast.bootstrap import Memory  # late, so that help and --version stay quick

        memory = Memory(self.folder, brief=True)
        if self.remote:
            return self._open_remote(memory)
        try:
            loss = memory.find_loss()
        except StoreError:
            loss = None  # the command itself will report what is wrong with the store
        if loss is not None:
            note(f"note: {loss.words}; for more, run: holdfast doctor")
        if waits(memory.settings.run_path, "spool"):
            from holdfast.home.spool import drain  # late: there is seldom anything to take in

            try:
                drain(memory, memory.settings.run_path)
            except StoreError:
                return memory  # a read-only store can still answer
        return memory

    def _open_remote(self, local: Memory) -> Memory:
        """Return a memory whose answers come from the server; it closes `local`."""
        from holdfast.surfaces.cli.remotereads import RemoteMemory  # late: an HTTP library takes a tenth of a second

        try:
            return cast("Memory", RemoteMemory(local, self.remote))
        except HoldfastError:
            local.close()
            raise

    def answer(self, value: Any) -> bool:
        """Print the value as JSON and return True if a program asked for that; else return False."""
        if self.as_json:
            answer_json(value)
        return self.as_json


def command(
    *examples: str,
    name: str = "",
    of: click.Group | None = None,
    memory: bool = False,
    folder: bool = True,
    json: bool = True,
    reads: bool = False,
    **settings: Any,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command, with lines of examples in its help.

    The function gets the `Call` and then, with `memory`, the memory of the call's folder, open while it runs. `of` is
    the group that it belongs to. `folder` and `json` add these options. A command that `reads` can be answered by a
    server (`--remote`).
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        @click.pass_context
        @wraps(function)
        def run(ctx: click.Context, /, *arguments: Any, **values: Any) -> Any:
            call = ctx.ensure_object(Call)
            if call.remote and not reads:
                raise click.UsageError(f"--remote is for commands that read lessons, not for {ctx.command_path}")
            if not memory:
                return function(call, *arguments, **values)
            with call.open() as opened:
                return function(call, opened, *arguments, **values)

        _add_shared(run, folder, json)
        made = (of or click).command(name or None, epilog=epilog(*examples), **settings)(run)
        return made

    return decorate


def group(
    *examples: str, folder: bool = False, json: bool = False, **settings: Any
) -> Callable[[Callable[..., Any]], click.Group]:
    """Make a function a group of commands; with options or `invoke_without_command` it is called, with the `Call`."""

    def decorate(function: Callable[..., Any]) -> click.Group:
        @click.pass_context
        @wraps(function)
        def run(ctx: click.Context, /, **values: Any) -> Any:
            if ctx.invoked_subcommand is None:
                return function(ctx.ensure_object(Call), **values)
            return None

        _add_shared(run, folder, json)
        made: click.Group = click.group(cls=Group, epilog=epilog(*examples), **settings)(run)
        return made

    return decorate


def _add_shared(run: Any, folder: bool, json: bool) -> None:
    """Add the shared options behind a command's own: click reads the list from its end."""
    own = getattr(run, "__click_params__", [])
    run.__click_params__ = [*([FOLDER] if folder else []), *([JSON] if json else []), *own]


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value:
        setattr(ctx.ensure_object(Call), param.name or "", value)


FOLDER = click.Option(
    ["-C", "--folder"], type=click.Path(exists=True, file_okay=False, resolve_path=True), expose_value=False,
    callback=_keep, help="Work in this folder instead of the current one.",
)  # fmt: skip
REMOTE = click.Option(
    ["--remote"], metavar="NAME", expose_value=False, callback=_keep,
    help="Read from this team server instead of this machine; `holdfast remote list` names the servers.",
)  # fmt: skip
JSON = click.Option(
    ["--json", "as_json"], is_flag=True, expose_value=False, callback=_keep, help="Print JSON, for programs."
)


class Group(click.Group):
    """A group whose help shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, wrapped instead of cut."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(WHOLE)) for name, command in commands if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def epilog(*lines: str) -> str:
    """Return the end of a help text, which lists these commands, one on each line."""
    return "Examples:\n\n\b\n" + "\n".join(f"  {line}" for line in lines)


def lesson_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return short ids of this folder's newest lessons that start with the typed text, with titles; [] on an error."""
    from holdfast.bootstrap import Memory

    try:
        with Memory(ctx.ensure_object(Call).folder, brief=True) as memory:
            lessons = memory.lessons(states=(), limit=NEWEST)
    except (HoldfastError, OSError):
        return []
    fitting = [lesson for lesson in lessons if short_id(lesson.id).startswith(incomplete.lower())]
    return [CompletionItem(short_id(lesson.id), help=lesson.title) for lesson in fitting[:OFFERED]]


def host_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names of hosts that start with the typed text."""
    names = (name.replace("_", "-") for name in plugins.names("hosts"))
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


lesson_argument: Decorator = click.argument("ref", metavar="ID", shell_complete=lesson_ids)
"""The argument that names one lesson, by the end of its id."""
as_of_option: Decorator = click.option(
    "--as-of", default="", help="Use memory as it was then: 2026-03-01T12:00:00Z, yesterday, or a commit."
)
all_projects_option: Decorator = click.option(
    "--all-projects", is_flag=True, help="Use lessons of every project on this machine."
)

states_option: Decorator = click.option(
    "--state", "states", multiple=True, type=click.Choice([*STATES, "all"]),
    help="Only lessons in this state; `all` is every state except forgotten.  [default: active]",
)  # fmt: skip


def lessons_option(flag: str, name: str, text: str) -> Decorator:
    """Return an option that names lessons and may be repeated."""
    return click.option(
        flag, name, metavar="ID", multiple=True, shell_complete=lesson_ids, help=f"{text}; may be repeated."
    )


def limit_option(default: int) -> Decorator:
    """Return the option that limits how much is printed."""
    limit = click.IntRange(1)
    return click.option("--limit", default=default, show_default=True, type=limit, help="Print at most this many.")
