"""The entry point of the command line: loads the typed command's module and maps errors to exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from holdfast._version import __version__
from holdfast.errors import ForbiddenError, HoldfastError, NotSignedInError, RateLimitedError, ServerUnreachableError
from holdfast.settings import colour_wanted
from holdfast.surfaces.cli.frame import FOLDER, INTERRUPTED, REMOTE, Call
from holdfast.text.hidden import without_hidden

GROUPS = {
    "Every day": {
        "remember": ("writing", "Save a lesson."),
        "recall": ("asking", "Search memory; the best lessons come first."),
        "brief": ("asking", "Print exactly what an agent is told here."),
        "list": ("listing", "List lessons, newest first."),
        "show": ("lessons", "Print everything about one lesson."),
        "review": ("review", "Go through the lessons that wait for your decision, or that may have gone stale."),
        "ui": ("ui", "Open the pages of this folder's memory in the browser."),
        "sessions": ("sessions", "List sessions by day, or tell the story of one."),
        "threads": ("sessions", "List failures across sessions, with their tries and cures."),
        "digest": ("digest", "Print what memory learnt, changed and contradicted lately, and what waits."),
        "topics": ("topics", "List the topics of this project's lessons; rename and merge them."),
        "status": ("status", "Print this folder's project, where its memory is and what it holds."),
        "learn": ("learn", "Let your own agent read each session after its end: switch it on or off, see its state."),
        "checkpoint": ("checkpoint", "Save, show or close the working state of a task."),
    },
    "Check lessons": {
        "why": ("lessons", "Print who said a lesson, on what evidence, and whether the code still agrees."),
        "verify": ("verifying", "Check lessons against the current code, and follow code that has moved."),
        "diff": ("lessons", "Print the code that a lesson is about, as it was and as it is."),
        "confirm": ("writing", "State that a lesson still holds for the current code."),
        "history": ("lessons", "Print the versions of a lesson, or the lessons about a file's lines."),
        "feedback": ("writing", "Say whether a lesson helped."),
        "log": ("listing", "Print which lessons were shown, when and why; or which changes were made."),
        "check": ("check", "Check that memory delivers what a repository's checks expect."),
        "stats": ("listing", "Print the outcomes of deliveries: how often lessons were heeded and helped."),
        "watch": ("verifying", "Print a line whenever the code of a lesson changes."),
    },
    "Change and undo": {
        "revise": ("writing", "Replace a lesson by a better one."),
        "edit": ("writing", "Change when a lesson is shown."),
        "forget": ("writing", "Take a lesson out of use for good, or erase it."),
        "recommend": ("recommend", "Print what a rules file, a lint rule, a test or a comment could say instead."),
        "tidy": ("tidy", "Merge lessons that say the same, retire what no session needs, improve weak titles."),
        "undo": ("writing", "Undo the last change of this project's memory."),
    },
    "Work with a team": {
        "share": ("team", "Write lessons as files of the repository."),
        "sync": ("team", "Synchronise the repository's lesson files with memory."),
        "staged": ("team", "List lessons that are shown on their branch only."),
        "pr": ("digest", "Print what a branch's sessions learnt, for a pull request."),
        "login": ("remote", "Log in to a team server with a token."),
        "logout": ("remote", "Forget a team server's token; lessons stay here."),
        "remote": ("remote", "Link this project to a team server, and sync private lessons between your machines."),
        "merge-driver": ("team", "Merge two revisions of one lesson's file; git calls this."),
        "serve": ("serve", "Run the server for a team, or for one person's own programs."),
        "audit": ("audit", "Print a server's audit log, or check that nobody has tampered with it."),
    },
    "Set up and fill": {
        "setup": ("setup", "Register hooks and the MCP server with a host."),
        "uninstall": ("setup", "Undo what setup changed."),
        "doctor": ("doctor", "Prove that memory works, and report every problem."),
        "backfill": ("backfill", "Learn from the transcripts that are already on this machine."),
        "distil": ("distil", "Choose the model that reads sessions, and see what it would be sent."),
        "import": ("transfer", "Import lessons from other tools' files, or from JSON lines."),
        "export": ("exporting", "Write lessons as JSON lines, as Markdown, or as a folder of files for others."),
        "backup": ("backup", "Write everything in this Holdfast home into one file."),
        "restore": ("backup", "Replace this Holdfast home's memory by a backup."),
        "embedder": ("embedder", "Choose the embedder, which finds lessons by their meaning."),
        "project": ("project", "Show which project a folder is, and accept the id that its files declare."),
        "completion": ("processes", "Print the completion script of a shell."),
    },
    "Code and rules files": {
        "index": ("verifying", "Update the code index to the current files."),
        "rules": ("rules", "Write lessons into the rules files of hosts without hooks."),
    },
    "Started by hosts": {
        "mcp": ("processes", "Run the MCP server on stdin and stdout."),
        "hook": ("processes", "Answer one hook of a host."),
    },
}
"""Every command with its module and its line of help, in the order of the help. The list imports no module."""
COMMANDS = {name: module for commands in GROUPS.values() for name, (module, _) in commands.items()}

EXIT_FAILED = 1
"""Exit code when what was asked could not be done."""
EXIT_USAGE = 2
"""Exit code when the command line is wrong."""
EXIT_LATER = 75
"""Exit code when a server cannot be reached, or asks to come back later; EX_TEMPFAIL of sysexits.h."""
EXIT_DENIED = 77
"""Exit code when a server does not accept the token or the member's role; EX_NOPERM of sysexits.h."""
EXIT_BUG = 70
"""Exit code when Holdfast itself is wrong; EX_SOFTWARE of sysexits.h."""

EXIT_CODES: dict[type[BaseException], int] = {
    click.UsageError: EXIT_USAGE,
    click.ClickException: EXIT_FAILED,
    click.Abort: INTERRUPTED,
    KeyboardInterrupt: INTERRUPTED,
    ServerUnreachableError: EXIT_LATER,
    RateLimitedError: EXIT_LATER,
    NotSignedInError: EXIT_DENIED,
    ForbiddenError: EXIT_DENIED,
    HoldfastError: EXIT_FAILED,
    OSError: EXIT_FAILED,
    Exception: EXIT_BUG,
}
"""Exit code for each error class; the first class that matches counts."""


class Holdfast(click.Group):
    """A group that loads a command's module on demand and turns every error into a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command from its module, where "_" stands for "-" in its name, and RESERVED names end in "_"."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_") + ("_" if cmd_name in RESERVED else "")
        module = import_module(f"holdfast.surfaces.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, name)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands in their groups, without loading them."""
        widest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), line) for name, (_, line) in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed. Raises UsageError for an unknown name, with the nearest known one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"no such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the command, then exit with the code for its result or error."""
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


RESERVED = frozenset({"import", "list"})
"""Commands whose name a module cannot have (a keyword) or should not have (a built-in, a standard module)."""


@click.command(
    cls=Holdfast,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples:\n\n\b\n  holdfast setup\n  holdfast recall 'flaky login test'\n  holdfast doctor",
)
@click.version_option(__version__, message="holdfast %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Persistent memory for coding agents: what one session learns, the next one knows.

    Without a command, it prints what this folder's memory holds and what needs your attention.
    """
    call = ctx.ensure_object(Call)
    if not colour_wanted():
        ctx.color = False
    if ctx.invoked_subcommand is None:
        from holdfast.surfaces.cli.status import print_dashboard

        if not print_dashboard(call):
            click.echo(ctx.get_help())


cli.params += [FOLDER, REMOTE]


def main() -> None:
    """Run the `holdfast` program."""
    cli.main()


def _report(exc: BaseException, as_json: bool = False) -> int:
    """Print on stderr what went wrong and what to do, as one JSON object for a program; return the exit code."""
    if isinstance(exc, click.exceptions.NoArgsIsHelpError):  # a group without a command, such as `holdfast checkpoint`
        click.echo(exc.format_message())
        return 0
    code = next((code for kind, code in EXIT_CODES.items() if isinstance(exc, kind)), EXIT_BUG)
    if as_json and code in (EXIT_FAILED, EXIT_USAGE, EXIT_LATER, EXIT_DENIED):
        return _report_json(exc, code)
    if isinstance(exc, click.ClickException):
        _say("error", exc.format_message(), "red")
        if isinstance(exc, click.UsageError) and exc.ctx:
            _say("hint", f"{exc.ctx.command_path} --help", "cyan")
    elif code == INTERRUPTED:
        click.echo(err=True)  # the shell's prompt starts on a line of its own
    elif code == EXIT_BUG:
        _say_bug(exc)
    else:
        _say("error", _message(exc), "red")
        hint = exc.hint if isinstance(exc, HoldfastError) else "holdfast doctor shows what is wrong with this machine"
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
    _say("hint", "report the lines above, with the output of: holdfast doctor --report", "cyan")


def _say(label: str, text: str, colour: str) -> None:
    click.echo(
        f"{click.style(label, fg=colour)}: {without_hidden(text)}", err=True, color=None if colour_wanted() else False
    )


def _leave_pipe() -> None:
    """Exit with 0 and without a message because the reader closed the pipe (`| head`).

    Stdout becomes the null device; otherwise Python would fail when it flushes the rest at exit.
    """
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
