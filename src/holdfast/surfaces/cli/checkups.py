"""The check-ups of `holdfast doctor`: one function for each part of an installation, which yields its findings."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.util import cache_from_source
from typing import Any

from holdfast.backfill.distilling import learning_facts, learning_trouble
from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import Memory, all_hosts, find_place
from holdfast.capture.sessionevents import activity, is_from_hook, last_events
from holdfast.errors import (
    HoldfastError,
    PluginNotFoundError,
    ServerUnreachableError,
    StoreCorruptError,
    StoreLockedError,
    StoreReadOnlyError,
)
from holdfast.home.remotes import Remote, load_remotes
from holdfast.home.runfiles import DROPPED, LATE, SPOOLED, read_counts
from holdfast.home.spool import FOLDER, unreadable, waiting
from holdfast.home.witness import accept, find_loss
from holdfast.installing import forms, launcher
from holdfast.installing.hostfiles import BACKUPS, SETUP_SCOPES, HostFiles, backups, set_up
from holdfast.installing.hostsetup import TWICE, has_package
from holdfast.lean.files import count_lesson_files
from holdfast.lean.texts import counted
from holdfast.learning.learn import count_barren
from holdfast.lessons.brought import TAKE_IN, brought_words, count_brought
from holdfast.ports.host import Host
from holdfast.ports.store import Extent, Store
from holdfast.settings import Settings, compiled_hook, interpreter, package_folder
from holdfast.surfaces.cli.hostcheck import (
    BAD,
    LEARN_ON,
    NOTE,
    OK,
    QUIET,
    WORDS,
    CheckFinding,
    ago_words,
    barren_words,
    check_heard,
    cut_of,
    failure,
    setup_time,
)
from holdfast.surfaces.cli.project import ACCEPT, claim_line
from holdfast.surfaces.cli.status import tidying_lines
from holdfast.wiring import open_store

SETUP = "holdfast setup"
MEND = "holdfast doctor --mend"
WAIT_S = 3.0
"""How long a locked database is waited for."""
LEAN_MODULES = ("wiring.py", "settings.py", "recall/deliver.py", "service/hook.py", "surfaces/hooks/client.py")
"""Some of what a hook imports: without their compiled form each hook compiles them anew."""
LOG_LINES = 3
"""Last lines of the hooks' log that are shown."""
COUNTED_DAYS = 7
"""How far back late and lost answers are told of."""

ASKED_S = 5.0
"""Seconds that a team server has to answer doctor."""


def check_store(settings: Settings, folder: str = "") -> Iterator[CheckFinding]:
    """Check that the database opens, is sound and private, gets events from hooks, and knows the folder's project."""
    path = settings.database_path
    if path and not os.path.exists(path):
        yield from _check_new_store(settings)
        yield from _check_witness(settings, Extent())
        return
    modes = list(_check_modes(settings))  # first, because opening the database corrects its own mode
    try:
        with open_store(settings, WAIT_S) as store:
            scheme = settings.store.partition(":")[0]
            opens = f"{path} opens ({os.path.getsize(path) / 1e6:.1f} MB)" if path else f"the {scheme} store opens"
            yield CheckFinding(OK, "database", opens)
            problems = store.check()
            yield from (CheckFinding(BAD, "database", problem.what, problem.mend) for problem in problems)
            if not problems:
                yield CheckFinding(OK, "integrity", "rows and indexes agree")
            yield from modes
            yield from _check_witness(settings, store.extent())
            yield from _check_project(store, settings, folder)
            heard, hosts = [event for event in last_events(store) if is_from_hook(event)], activity(store)
    except (HoldfastError, OSError) as exc:
        yield failure("database", exc, _mend_store(exc, settings))
        return
    if not heard:
        yield CheckFinding(NOTE, "heartbeat", "no hook event was received yet; restart running sessions of the host")
    else:
        ago = datetime.now(UTC) - heard[0].at
        line = f"{WORDS.get(heard[0].kind, heard[0].kind)} from {heard[0].host}, {ago_words(ago)} ago"
        if min(ago, datetime.now(UTC) - setup_time(settings)) > QUIET:
            yield CheckFinding(NOTE, "heartbeat", f"{line}: no event was stored since", SETUP)
        else:
            yield CheckFinding(OK, "heartbeat", line)
    yield from check_heard(settings, hosts)


def check_memory(settings: Settings, folder: str = "") -> Iterator[CheckFinding]:
    """Report sessions that taught nothing, session starts that are cut, and tidying, of the folder's project."""
    if settings.database_path and not os.path.exists(settings.database_path):
        if line := brought_words(count_lesson_files(work_tree(folder or os.getcwd()))):
            yield CheckFinding(NOTE, "team", line, TAKE_IN)
        return  # nothing is known yet, and opening the store would create it
    try:
        with Memory(folder, settings=settings) as memory:
            location = find_place(memory.services.store, settings, folder)
            if line := barren_words(count_barren(memory.services, location)):
                yield CheckFinding(NOTE, "learning", line, LEARN_ON)
            if line := brought_words(count_brought(memory.services, location)):
                yield CheckFinding(NOTE, "team", line, TAKE_IN)
            for name in sorted(set_up(HostFiles(settings.home).manifest)):
                with suppress(PluginNotFoundError):  # `check_heard` reports it
                    if line := cut_of(memory.services, location, name):
                        yield CheckFinding(NOTE, name, line)
            for line in tidying_lines(memory.services, location):
                what, _, mend = line.rpartition("; ")
                yield CheckFinding(NOTE, "tidying", what, mend)
    except (HoldfastError, OSError):
        return  # `check_store` reports it


def _check_witness(settings: Settings, now: Extent) -> Iterator[CheckFinding]:
    loss = find_loss(settings.home, settings.store, now)
    if loss is not None:
        mend = f"put the database back, or go on with what is there: {MEND}"
        yield CheckFinding(BAD, "database", loss.words, mend)


def mend_store(settings: Settings) -> Iterator[CheckFinding]:
    """Set damaged rows aside, and accept what the store holds now as complete."""
    try:
        with open_store(settings, WAIT_S) as store:
            moved = store.set_aside()
            loss = find_loss(settings.home, settings.store, store.extent())
            accept(settings.home, settings.store, store.extent())
    except (HoldfastError, OSError) as exc:
        yield failure("database", exc, _mend_store(exc, settings))
        return
    if moved:
        words = ", ".join(f"{count} of {table}" for table, count in moved.items())
        yield CheckFinding(NOTE, "mended", f"damaged rows set aside, none deleted: {words}")
    if loss is not None:
        yield CheckFinding(NOTE, "mended", f"accepted: {loss.words}")


def check_capture(settings: Settings) -> Iterator[CheckFinding]:
    """Report by host what hooks of the last days did late or not at all, and what still waits in the spool."""
    since = (datetime.now(UTC) - timedelta(days=COUNTED_DAYS)).strftime("%Y-%m-%d")
    for host, counts in sorted(read_counts(settings.run_path, since).items()):
        late, spooled, dropped = (counts.get(what, 0) for what in (LATE, SPOOLED, DROPPED))
        what = f"{host}: {late} late, {spooled} spooled, {dropped} dropped in {COUNTED_DAYS} days"
        if dropped:
            yield CheckFinding(
                BAD, "answers", f"{what}: events were lost; see {settings.log_path}", "holdfast backfill"
            )
        else:
            yield CheckFinding(NOTE if late else OK, "answers", what)
    files = waiting(settings.run_path)
    if files:
        yield CheckFinding(
            NOTE, "spool", f"{counted(len(files), 'call')} of hooks waiting to be stored", "holdfast status"
        )
    if aside := unreadable(settings.run_path):
        folder = os.path.join(settings.run_path, FOLDER)
        yield CheckFinding(NOTE, "spool", f"{counted(aside, 'file')} in {folder} cannot be read and was set aside")


def _mend_store(exc: Exception, settings: Settings) -> str:
    """Return the command that solves a problem of the store's file, or "" if there is none. None of them deletes."""
    if not settings.database_path:
        return ""
    path = shlex.quote(settings.database_path)
    if isinstance(exc, StoreCorruptError):
        return f"mv {path} {path}.damaged && holdfast backfill"
    if isinstance(exc, StoreLockedError):
        return f"fuser -v {path} {path}.lock"
    if isinstance(exc, StoreReadOnlyError):
        return f"chmod u+w {path}"
    return ""


def _check_project(store: Store, settings: Settings, folder: str) -> Iterator[CheckFinding]:
    """Report a project id that the folder's files declare but that does not count there."""
    try:
        line = claim_line(find_place(store, settings, folder))
    except HoldfastError as exc:
        yield failure("project", exc)
        return
    if line:
        yield CheckFinding(NOTE, "project", line, f"if this repository is yours: {ACCEPT}")


def _check_new_store(settings: Settings) -> Iterator[CheckFinding]:
    above = settings.home
    while not os.path.exists(above):
        above = os.path.dirname(above)
    if os.access(above, os.W_OK):
        yield CheckFinding(NOTE, "database", f"{settings.database_path} does not exist yet; it is created at first use")
    else:
        yield CheckFinding(BAD, "database", f"{above} cannot be written", f"chmod u+w {shlex.quote(above)}")


def _check_modes(settings: Settings) -> Iterator[CheckFinding]:
    if os.name != "posix":
        return  # Windows protects a user's folder by other means, and file modes mean nothing there
    path = settings.database_path
    exposed = [name for name in (path, path + "-wal", path + "-shm") if path and _mode(name) & 0o077]
    for name in exposed:
        yield CheckFinding(BAD, "permissions", f"others can read {name}", f"chmod 600 {shlex.quote(name)}")
    if _mode(settings.home) & 0o022:
        yield CheckFinding(
            BAD, "permissions", f"others can write {settings.home}", f"chmod 700 {shlex.quote(settings.home)}"
        )
    elif path and not exposed:
        yield CheckFinding(OK, "permissions", "only you can read the database")


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0


def check_hosts(settings: Settings) -> Iterator[CheckFinding]:
    """Check that setup's entries are still in the hosts' files and name existing programs; report hosts not set up."""
    try:
        manifest = HostFiles(settings.home).manifest
    except HoldfastError as exc:
        yield failure("hooks", exc)
        return
    wired = set_up(manifest)
    hosts = all_hosts(settings)
    packaged = [host for host in hosts if has_package(host.profile, settings.user_home)]
    for host in packaged:
        if host.name in wired:
            mend = f"holdfast uninstall {host.name}, or remove the package with the host's own command"
            yield CheckFinding(NOTE, "hooks", f"{host.profile.title}: {TWICE}", mend)
        else:
            yield CheckFinding(OK, "hooks", f"{host.profile.title} has Holdfast's plug-in package")
    if not (wired or packaged):
        yield CheckFinding(BAD, "hooks", "no host is set up: nothing is captured or delivered", SETUP)
    for file, entry in manifest.items():
        edits = [edit for edit in entry["edits"] if edit["owner"].split(":")[1] in SETUP_SCOPES]
        if edits:
            yield from _check_file(file, edits)
    yield from _check_approvals([host for host in hosts if host.name in wired], settings)
    for host in hosts if wired else ():
        if host not in packaged and host.name not in wired and host.find(settings.user_home):
            yield CheckFinding(
                NOTE, "hooks", f"{host.profile.title} is on this machine but not set up", f"{SETUP} {host.name}"
            )


def check_backups(settings: Settings) -> Iterator[CheckFinding]:
    """Report where the backups of hosts' files are, and check that nobody else can read them."""
    names = backups(settings.home)
    if not names:
        return
    folder = os.path.join(settings.home, BACKUPS)
    exposed = [path for name in names if _mode(path := os.path.join(folder, name)) & 0o077]
    if exposed and os.name == "posix":
        yield CheckFinding(BAD, "backups", f"others can read {exposed[0]}", f"chmod 600 {shlex.quote(folder)}/*")
    else:
        what = (
            f"{counted(len(names), 'backup')} of hosts' files from before setup, in {folder}; uninstall restores them"
        )
        yield CheckFinding(OK, "backups", what)


def check_team_servers(settings: Settings) -> Iterator[CheckFinding]:
    """Ask each team server that a project is linked to whether it answers and takes the token."""
    try:
        known = load_remotes(settings.home)
    except HoldfastError as exc:
        yield failure("team server", exc)
        return
    for remote in known.remotes:
        linked = sum(link.remote == remote.name for link in known.links)
        if linked:
            yield _ask_team_server(remote, counted(linked, "project"))


def _ask_team_server(remote: Remote, linked: str) -> CheckFinding:
    from holdfast.client import Client  # late: an HTTP library takes a tenth of a second

    try:
        with Client(remote.url, remote.token, timeout_s=ASKED_S) as client:
            me = client.me()
    except ServerUnreachableError as exc:
        return CheckFinding(NOTE, "team server", f"{exc}; memory here works, sync waits", "")
    except HoldfastError as exc:
        return CheckFinding(BAD, "team server", f"{remote.name}: {exc}", f"holdfast login {remote.url}")
    return CheckFinding(OK, "team server", f"{remote.name} answers {me.name}, {me.role}; {linked} linked")


def check_launcher(settings: Settings) -> Iterator[CheckFinding]:
    """Check that the launcher exists and starts this installation, if a host is set up to use it."""
    try:
        files = HostFiles(settings.home)
        change = launcher.plan(files, settings)
    except HoldfastError as exc:
        yield failure("launcher", exc)
        return
    if not set_up(files.manifest):
        return
    if change.held is None:
        yield CheckFinding(BAD, "launcher", f"{change.file} is missing: hooks do nothing", SETUP)
    elif change.needed:
        yield CheckFinding(
            BAD, "launcher", f"{change.file} starts another installation, or one that no longer exists", SETUP
        )
    else:
        way = "compiled" if compiled_hook() else "Python alone: this package has no program for this machine"
        yield CheckFinding(OK, "launcher", f"{change.file} starts this installation; hooks: {way}")


def _check_file(file: str, edits: list[dict[str, Any]]) -> Iterator[CheckFinding]:
    """Check that the file still has Holdfast's edits, which means that applying them again would change nothing."""
    setup = _setup_of(edits[0])
    try:
        with open(file, "rb") as stream:
            text = stream.read().decode("utf-8-sig")
        missing = [edit for edit in edits if not forms.holds(file, text, forms.parse_edit(file, edit))]
    except (OSError, ValueError, HoldfastError) as exc:
        yield CheckFinding(BAD, "hooks", f"{file} cannot be read: {exc}", setup)
        return
    gone = sorted({path for edit in edits for path in _programs(edit) if not os.path.exists(path)})
    for edit in missing:
        where = ".".join([*edit.get("path", ()), *filter(None, [edit.get("key")])]) or "the file's own text"
        yield CheckFinding(BAD, "hooks", f"Holdfast's entry is missing in {file}: {where}", _setup_of(edit))
    for path in gone:
        yield CheckFinding(BAD, "hooks", f"{file} names {path}, which does not exist", setup)
    if not missing and not gone:
        yield CheckFinding(OK, "hooks", f"{len(edits)} {'entries' if len(edits) > 1 else 'entry'} in {file}")


def _check_approvals(hosts: Sequence[Host], settings: Settings) -> Iterator[CheckFinding]:
    """Check that the user has approved Holdfast's hooks in every host that skips hooks without approval."""
    for host in hosts:
        approvals = host.approvals(settings.user_home)
        if approvals is None:
            continue
        try:
            hooks = approvals.find()
        except HoldfastError as exc:
            what = f"cannot find out whether Holdfast's hooks are approved: {exc}"
            yield CheckFinding(NOTE, host.name, what, approvals.by_hand)
            continue
        skipped = [hook for hook in hooks if hook.state != "trusted"]
        if skipped:
            what = f"{approvals.title} skips {len(skipped)} of Holdfast's hooks: they are {skipped[0].state}"
            yield CheckFinding(BAD, host.name, what, f"{SETUP} {host.name} --trust")
        else:
            yield CheckFinding(OK, host.name, f"{len(hooks)} hooks approved")


def _programs(value: Any) -> Iterator[str]:
    """Yield the absolute paths of programs that an entry's commands name."""
    if isinstance(value, list):
        for item in value:
            yield from _programs(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in ("command", "cmd") and isinstance(item, str):
                yield from (word for word in shlex.split(item) if os.path.isabs(word))
            else:
                yield from _programs(item)


def _setup_of(edit: dict[str, Any]) -> str:
    host, scope, folder = edit["owner"].split(":", 2)
    return f"{SETUP} {host}" + (f" --project -C {shlex.quote(folder)}" if scope == "project" else "")


def check_program() -> Iterator[CheckFinding]:
    """Report the interpreter, and check that the modules which hooks import are compiled."""
    package = package_folder()
    yield CheckFinding(OK, "program", f"Python {sys.version.split()[0]} at {interpreter()}")
    sources = [os.path.join(package, *name.split("/")) for name in LEAN_MODULES]
    compiled = [(source, cache_from_source(source)) for source in sources]
    stale = [
        os.path.relpath(source, package)
        for source, made in compiled
        if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source)
    ]
    if stale:
        mend = f"{shlex.quote(interpreter())} -I -m compileall -q {shlex.quote(package)}"
        yield CheckFinding(NOTE, "start-up", f"{stale[0]} is not compiled: every hook starts slowly", mend)
    else:
        yield CheckFinding(OK, "start-up", "the modules that hooks import are compiled")


def check_switches(settings: Settings) -> Iterator[CheckFinding]:
    """Report what the user has switched off, and the last lines of the hooks' log."""
    if not settings.capture:
        yield CheckFinding(NOTE, "capture", "is off: HOLDFAST_OFF or capture = false in " + settings.config_path)
    if not settings.deliver:
        yield CheckFinding(NOTE, "delivery", "is off")
    try:
        with open(settings.log_path, encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return
    for line in lines[-LOG_LINES:]:
        yield CheckFinding(NOTE, "hooks.log", line[:300])


def check_learning(settings: Settings) -> Iterator[CheckFinding]:
    """Check that the model which the user agreed to can read sessions; it is not called."""
    now = datetime.now(UTC)
    facts = learning_facts(settings, now)
    if not facts["after_sessions"]:
        yield CheckFinding(OK, "learning", "your own agent reads no sessions (holdfast learn --on)")
    elif facts["trouble"]:
        status = NOTE if learning_trouble(settings, now).is_limit else BAD
        yield CheckFinding(status, "learning", facts["trouble"], "holdfast learn")
    else:
        calls = counted(facts["last_24_hours"]["calls"], "call")
        yield CheckFinding(OK, "learning", f"{facts['model']} reads each session: {calls} within 24 hours")
