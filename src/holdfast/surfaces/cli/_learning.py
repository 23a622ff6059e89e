"""Shared by the commands that let a model read sessions: which agents there are, consent, words, the run itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from holdfast import plugins
from holdfast.backfill.distilling import keep_trouble
from holdfast.backfill.distilrecord import note_choice
from holdfast.backfill.endedsessions import begin
from holdfast.bootstrap import Memory, agent_options, load_model
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.installing.configfile import keep_consent, keep_model
from holdfast.installing.hostfiles import HostFiles, set_up
from holdfast.learning.distil import DistilReport
from holdfast.ports.host import HostProfile
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.call import counted, note
from holdfast.wiring import load_host

WHAT_IS_SENT = (
    "For each session with real work, one digest without secrets goes to that model: what you typed, the agent's\n"
    "explanations, failures and their fixes, commit messages. To read it in full: holdfast distil digest\n"
    "A memory that outgrows a session's start is tidied, at most once a day: that model then gets its lessons' titles."
)
NO_AGENT = "no agent on this machine can answer without a terminal"


def agents(settings: Settings, first: Sequence[str] = ()) -> list[str]:
    """Return the hosts whose program can answer a prompt here, the best choice first.

    Those of `first` come before those that are set up, and these before the others; a host that names its cheapest
    model comes before one that does not.
    """
    names = [name.replace("_", "-") for name in plugins.names("hosts")]
    wired = set_up(HostFiles(settings.home).manifest)
    able = []
    for name in names:
        try:
            agent_options(name)
        except HoldfastError:
            continue  # it has no headless mode, or its program is not on the PATH
        able.append(name)
    return sorted(able, key=lambda name: (name not in first, name not in wired, not _cheapest(name), name))


def profile_of(host: str) -> HostProfile:
    """Return the host's profile."""
    return load_host(host).profile


def _cheapest(host: str) -> str:
    headless = profile_of(host).headless
    return headless.model if headless else ""


def agent_words(host: str) -> tuple[str, str]:
    """Return the host's title with the model that is asked, and that model in words."""
    title, model = profile_of(host).title, _cheapest(host)
    return (f"{title}, {model}", "its cheapest model") if model else (title, "the model that is set there")


def switch_on(settings: Settings, name: str = "") -> Settings:
    """Let the model read each session from now on; return the new settings.

    Without a name it is the model that was chosen before, else the best agent here. Raises InvalidValueError if there
    is none, ModelError or PluginNotFoundError if that model cannot be used.
    """
    name = name or settings.distil_model or next(iter(agents(settings)), "")
    if not name:
        hint = "install one, or choose an endpoint: holdfast distil use --help; then holdfast learn --on"
        raise InvalidValueError(NO_AGENT, hint=hint)
    if name == settings.distil_model:
        load_model(name, dict(settings.distil_options))
    else:
        load_model(name, {})
        keep_model(settings, name, {})
    keep_consent(load_settings(), True)
    new = load_settings()
    note_choice(new, name, datetime.now(UTC))
    with Memory(os.sep, settings=new) as memory:
        if not settings.learns_after_sessions:
            begin(memory)
        keep_trouble(memory, new)
    return new


def switch_off(settings: Settings) -> None:
    """Send nothing any more after sessions, and remember that; the chosen model stays for the user's own commands."""
    keep_consent(settings, False)
    if settings.learns_after_sessions:
        with Memory(os.sep, settings=load_settings()) as memory:
            keep_trouble(memory, load_settings())


def limits(settings: Settings) -> str:
    """Return the limits of a day in words."""
    return f"{counted(settings.distil_calls_a_day, 'call')} and ${settings.distil_dollars_a_day:g} a day"


def cost_words(today: dict[str, Any]) -> str:
    """Return the dollars of the last 24 hours, and how many calls did not report theirs."""
    unknown = f" and {counted(today['unknown_costs'], 'call')} of unknown cost" if today["unknown_costs"] else ""
    return f"${today['cost_usd']:.2f}{unknown}"


def report_words(report: DistilReport) -> str:
    """Return what became of a session that was sent, or why it was not."""
    if report.skipped:
        return f"not sent: {report.skipped}"
    cost = "" if report.cost_usd is None else f", ${report.cost_usd:.4f}"
    tokens = f"{report.input_tokens:,} tokens in, {report.output_tokens:,} out{cost}"
    counts = (
        f"{counted(len(report.active), 'lesson')} active, {len(report.waiting)} waiting, {report.merged} known already"
    )
    return f"{counts} ({tokens})"


def report_plain(session: str, report: DistilReport | None, error: HoldfastError | None) -> dict[str, Any]:
    """Return what became of a session, for `--json`."""
    if report is None:
        return {"session": session, "failed": str(error)}
    return {
        "session": session, "skipped": report.skipped, "active": len(report.active),
        "waiting": len(report.waiting), "cost_usd": report.cost_usd,
    }  # fmt: skip


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows that one more session is done, with its line: a bar on a terminal, else a note."""
    if not sys.stderr.isatty():
        done = iter(range(1, 1_000_000))
        yield lambda line: note(f"{next(done)}/{total} {line}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def show(line: str) -> None:
            console.print(line, markup=False, highlight=False)
            bar.advance(task)

        yield show
