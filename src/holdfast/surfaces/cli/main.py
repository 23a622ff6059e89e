"""The command line's entry point: finds a command's module when it is asked for, and turns errors into exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from holdfast._version import __version__
from holdfast.errors import HoldfastError
from holdfast.settings import colour_wanted
from holdfast.surfaces.cli.call import Call, folder_option
from holdfast.text.hidden import without_hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUPS = {
    "Every day": {
        "remember": "Keep a lesson.",
        "recall": "Ask memory; the best lessons first.",
        "list": "List lessons, newest first.",
        "show": "Print everything about one lesson.",
        "review": "Go through the lessons that wait for a person.",
        "status": "Print where things are and how much there is.",
        "checkpoint": "Save, show or close the working state of a task.",
    },
    "Whether a lesson holds": {
        "why": "Print why a lesson is believed, and whether the code still bears it out.",
        "audit": "Go through lessons that may have gone stale, a few a day.",
        "verify": "Check lessons against the code as it is now, and follow what has moved.",
        "diff": "Print the code a lesson is about, then and now.",
        "confirm": "Say that a lesson still holds for the code as it is now.",
        "blame": "List the lessons about a file's lines.",
        "history": "Print what became of a lesson: its versions, predecessors and successors.",
        "bisect": "Find the commit since which memory says something.",
        "feedback": "Say whether a lesson helped.",
        "log": "Print what was shown when and why, or what changed.",
        "check": "Check that memory delivers what a repository's checks expect.",
        "stats": "Print what deliveries came to: heeded, overridden, missed, with and without.",
        "watch": "Say which lessons' code changes, as it happens.",
    },
    "Change and take back": {
        "revise": "Replace a lesson by a better one.",
        "edit": "Change when a lesson is told.",
        "forget": "Put a lesson out of use for good, or erase it.",
        "prune": "Forget lessons that are of no use any more.",
        "undo": "Take back the last change of this project's memory.",
        "rejudge": "Judge again what an older version learnt by words alone.",
    },
    "With a team": {
        "share": "Write lessons as files of the repository.",
        "sync": "Keep the repository's lesson files and memory in step.",
        "staged": "List lessons that are seen on their branch alone.",
        "pr": "Summarise what a branch's sessions learnt, for a pull request.",
        "merge-driver": "Merge two revisions of one lesson's file, as git calls it.",
    },
    "Set up and fill": {
        "setup": "Register hooks and the MCP server with a host.",
        "uninstall": "Take back what setup changed.",
        "doctor": "Prove that memory works, and name what does not.",
        "backfill": "Learn from transcripts that are on this machine already.",
        "distil": "Let a model of your choice word the lessons of sessions.",
        "import": "Read lessons from what other tools keep, or from JSON lines.",
        "export": "Write lessons as JSON lines, or to read.",
        "backup": "Write everything of this home into one file.",
        "restore": "Take this home's memory from a backup.",
        "embedder": "Choose what places lessons by meaning.",
        "project": "Show which project a folder is, and accept the id that its files declare.",
        "completion": "Print the completion script of a shell.",
    },
    "The code and other files": {
        "index": "Bring the code index up to the files as they are now.",
        "graph": "List the files linked to a file.",
        "rules": "Keep lessons in the rules files of hosts without hooks.",
        "skills": "Write lessons that recur as Agent Skills.",
        "compile": "Print the sections of a rules file that are needed.",
    },
    "Started by hosts": {
        "mcp": "Run the MCP server on stdin and stdout.",
        "hook": "Answer one hook of a host.",
    },
}
"""Every command and its one line of help, in the order of the help: listing them imports none of them."""
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}

EXIT_FAILED = 1
"""Exit code when what was asked could not be done."""
EXIT_USAGE = 2
"""Exit code when the command line is wrong."""
EXIT_BUG = 70
"""Exit code when Holdfast itself is wrong; EX_SOFTWARE of sysexits.h."""
EXIT_INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of SIGINT."""

EXIT_CODES: dict[type[BaseException], int] = {
    click.UsageError: EXIT_USAGE,
    click.ClickException: EXIT_FAILED,
    click.Abort: EXIT_INTERRUPTED,
    KeyboardInterrupt: EXIT_INTERRUPTED,
    HoldfastError: EXIT_FAILED,
    OSError: EXIT_FAILED,
    Exception: EXIT_BUG,
}
"""Exit code by error class: the first line that fits."""


class Holdfast(click.Group):
    """A group whose commands are loaded when asked for, with one place where errors end."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, from its module: dashes become underscores, names of Python's own get one at the end."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_") + ("_" if cmd_name in RESERVED else "")
        module = import_module(f"holdfast.surfaces.cli.{name}")
        command: click.Command = module.command
        command.name = cmd_name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands' list in the help, by what they are for, without loading them."""
        widest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), line) for name, line in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command asked for; an unknown one is answered with the nearest name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"no such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run, then exit with the code that fits what happened."""
        extra["standalone_mode"] = False
        extra.setdefault("prog_name", "holdfast")
        try:
            answer = super().main(args, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_pipe()
        except BaseException as exc:
            if isinstance(exc, (SystemExit, GeneratorExit)):
                raise
            sys.exit(_report(exc, "--json" in (sys.argv[1:] if args is None else args)))
        sys.exit(answer if isinstance(answer, int) else 0)


RESERVED = frozenset({"bisect", "import", "list"})
"""Commands whose module cannot, or should not, have their name."""


@click.command(
    cls=Holdfast,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples:\n\n\b\n  holdfast setup\n  holdfast recall 'flaky login test'\n  holdfast doctor",
)
@click.version_option(__version__, message="holdfast %(version)s")
@folder_option
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Persistent memory for coding agents: what one session learns, the next one knows.

    Without a command: what this folder's memory holds and what needs you.
    """
    call = ctx.ensure_object(Call)
    if not colour_wanted():
        ctx.color = False
    if ctx.invoked_subcommand is None:
        from holdfast.surfaces.cli._dashboard import print_dashboard

        if not print_dashboard(call):
            click.echo(ctx.get_help())


def main() -> None:
    """The `holdfast` program."""
    cli.main()


def _report(exc: BaseException, as_json: bool = False) -> int:
    """Say on stderr what went wrong and what to do, to a program as one JSON object; returns the exit code."""
    if isinstance(exc, click.exceptions.NoArgsIsHelpError):  # `holdfast checkpoint` alone asks for help
        click.echo(exc.format_message())
        return 0
    code = next((code for kind, code in EXIT_CODES.items() if isinstance(exc, kind)), EXIT_BUG)
    if as_json and code in (EXIT_FAILED, EXIT_USAGE):
        return _report_json(exc, code)
    if isinstance(exc, click.ClickException):
        _say("error", exc.format_message(), "red")
        if isinstance(exc, click.UsageError) and exc.ctx:
            _say("hint", f"{exc.ctx.command_path} --help", "cyan")
    elif code == EXIT_INTERRUPTED:
        click.echo(err=True)  # the shell's prompt starts on a line of its own
    elif code == EXIT_BUG:
        _say_bug(exc)
    else:
        _say("error", _message(exc), "red")
        hint = exc.hint if isinstance(exc, HoldfastError) else "holdfast doctor says what is wrong with this machine"
        if hint:
            _say("hint", hint, "cyan")
    return code


def _report_json(exc: BaseException, code: int) -> int:
    import json

    message = exc.format_message() if isinstance(exc, click.ClickException) else _message(exc)
    hint = exc.hint if isinstance(exc, HoldfastError) else ""
    report = {"error": without_hidden(message), "hint": without_hidden(hint), "exit_code": code}
    click.echo(json.dumps(report, ensure_ascii=False), err=True)
    return code


def _message(exc: BaseException) -> str:
    if isinstance(exc, OSError) and exc.strerror:
        return f"{exc.filename}: {exc.strerror}" if exc.filename else exc.strerror
    return str(exc)


def _say_bug(exc: BaseException) -> None:
    import traceback

    traceback.print_exception(exc)
    _say("error", f"a bug in holdfast {__version__}: {type(exc).__name__}: {exc}", "red")
    _say("hint", "report the lines above together with the output of: holdfast doctor --report", "cyan")


def _say(label: str, text: str, colour: str) -> None:
    click.echo(
        f"{click.style(label, fg=colour)}: {without_hidden(text)}", err=True, color=None if colour_wanted() else False
    )


def _leave_pipe() -> None:
    """The reader went away (`| head`): no message, and nothing left in the buffer to fail at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
