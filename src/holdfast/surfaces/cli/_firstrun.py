"""The questions that setup asks a new user once the hosts are set up: commits, a model, a wrap-up, an embedder.

The questions do not depend on each other. A no or an error leaves the hosts set up. Nothing is sent to a model or
downloaded without a yes on a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

import click

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.errors import HoldfastError
from holdfast.installing import pulling
from holdfast.installing.configfile import load_text
from holdfast.learning.gitbackfill import GitBackfill
from holdfast.settings import Settings
from holdfast.surfaces.cli._gitbackfill import learn_from_git, tell_git
from holdfast.surfaces.cli._learning import WHAT_IS_SENT, agent_words, agents, limits, switch_off, switch_on
from holdfast.surfaces.cli.call import Call, note
from holdfast.surfaces.cli.embedder import choose, download

SECONDS = 20.0
"""How long setup reads commits; `holdfast backfill --git` goes on from there."""


def begin(call: Call, settings: Settings, hosts: Sequence[str], *, from_git: bool | None, yes: bool) -> None:
    """Ask the questions that apply. An error in one of them becomes a note; the others still follow."""
    can_ask = not (yes or call.as_json) and sys.stdin.isatty()
    folder = call.folder or os.getcwd()
    if settings.capture and from_git is not False and _has_commits(folder):
        _offer_commits(call, ask=can_ask and from_git is None, sure=bool(from_git) or (yes and not call.as_json))
    if settings.capture and not settings.distil_answered:
        _offer_learning(call, settings, hosts, ask=can_ask)
    if can_ask and settings.embedder in ("", "static"):
        _offer_embedder(call, settings)


def _has_commits(folder: str) -> bool:
    return os.path.exists(os.path.join(work_tree(folder), ".git"))


def _offer_commits(call: Call, *, ask: bool, sure: bool) -> None:
    if not (ask or sure):
        if not call.as_json:
            note("to learn from this repository's commits, run: holdfast backfill --git")
        return
    if ask and not click.confirm("Learn from this repository's commits?", default=True, err=True):
        return
    try:
        with call.open() as memory:
            report, _ = learn_from_git(memory, GitBackfill(seconds=SECONDS))
    except HoldfastError as exc:
        note(f"no commits were read: {exc}")
        return
    if not call.as_json:
        tell_git(report, dry_run=False)


def _offer_learning(call: Call, settings: Settings, hosts: Sequence[str], *, ask: bool) -> None:
    """Ask once whether the user's own agent may read each session, and remember the answer."""
    host = next((name for name in agents(settings, hosts) if not settings.distil_model), "")
    if not (host or settings.distil_model):
        return
    if not ask:
        if not call.as_json:
            note("your own agent does not read sessions to learn from them; to switch it on: holdfast learn --on")
        return
    who, model = agent_words(host) if host else (settings.distil_model, "that model")
    note(WHAT_IS_SENT)
    note(f"It goes to your own account, at most {limits(settings)}. To change it later: holdfast learn")
    question = (
        f"Learn with your own agent ({who}) after each session? About one call of {model}, some 8,000 tokens,"
        " and at times your lessons' titles; nothing else is sent"
    )
    if not click.confirm(question, default=False, err=True):
        switch_off(settings)
        note("nothing is sent; to switch it on later: holdfast learn --on")
        return
    try:
        switch_on(settings, host)
    except HoldfastError as exc:
        note(f"it was not switched on: {exc}")
    else:
        note("on: sessions are read from now on; holdfast learn shows its state")


def _offer_embedder(call: Call, settings: Settings) -> None:
    """Ask whether a better embedder may be downloaded, unless the user has already chosen an embedder or none."""
    if "[embedder]" in load_text(settings.config_path):
        return
    if find_spec("fastembed") is None:
        note("for a larger embedder, which finds more paraphrases: pip install 'holdfast-memory[onnx]', then run setup")
        return
    note(f"A larger embedder finds more paraphrases: {pulling.DEFAULT}, 91 MB from {pulling.HUB}.")
    note("It runs on this machine.")
    if not click.confirm("Download it and use it?", default=False, err=True):
        note("nothing is downloaded; holdfast embedder pull downloads it later")
        return
    try:
        choose(call, settings, "onnx", {"path": download(settings, pulling.DEFAULT, pulling.HUB)})
    except HoldfastError as exc:
        note(f"the embedder was not changed: {exc}")
