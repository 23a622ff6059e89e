"""Check-ups: one function for each part of an installation, which tells what it found."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from datetime import UTC, datetime, timedelta
from importlib.util import cache_from_source
from typing import TYPE_CHECKING, Any

from holdfast.bootstrap import all_hosts, find_place
from holdfast.capture.heartbeat import activity, last_events
from holdfast.errors import HoldfastError, StoreCorruptError, StoreLockedError, StoreReadOnlyError
from holdfast.home.runfiles import DROPPED, LATE, SPOOLED, read_counts
from holdfast.home.spool import FOLDER, unreadable, waiting
from holdfast.home.witness import accept, find_loss
from holdfast.installing import forms, launcher
from holdfast.installing.hostfiles import BACKUPS, SETUP_SCOPES, HostFiles, backups, set_up
from holdfast.installing.packages import TWICE, has_package
from holdfast.ports.store import Extent
from holdfast.settings import interpreter, package_folder
from holdfast.surfaces.cli.call import counted
from holdfast.surfaces.cli.findings import BAD, NOTE, OK, Finding, failure
from holdfast.surfaces.cli.hostcheck import QUIET, WORDS, ago_words, check_heard
from holdfast.surfaces.cli.project import ACCEPT, claim_line
from holdfast.wiring import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.ports.host import Host
    from holdfast.ports.store import Store
    from holdfast.settings import Settings

SETUP = "holdfast setup"
SERVER = "holdfast.surfaces.mcp"
HOOK_PROGRAM = "surfaces/hooks/entry.py"
LAUNCHER = "bin/holdfast-launch"
MEND = "holdfast doctor --mend"
WAIT_S = 3.0
"""How long a locked database is waited for."""
LEAN_MODULES = ("wiring.py", "settings.py", "service/place.py", "service/hook.py", "surfaces/hooks/client.py")
"""Some of what a hook imports: without their compiled form each hook compiles them anew."""
LOG_LINES = 3
"""Last lines of the hooks' log that are shown."""
COUNTED_DAYS = 7
"""How far back late and lost answers are told of."""


def check_store(settings: Settings, folder: str = "") -> Iterator[Finding]:
    """The database: opens, is sound, is the user's alone, hears from hooks, and knows whose project the folder is."""
    path = settings.database_path
    if path and not os.path.exists(path):
        yield from _check_new_store(settings)
        yield from _check_witness(settings, Extent())
        return
    modes = list(_check_modes(settings))  # before opening, which mends the database's own
    try:
        with open_store(settings, WAIT_S) as store:
            scheme = settings.store.partition(":")[0]
            opens = f"{path} opens ({os.path.getsize(path) / 1e6:.1f} MB)" if path else f"the {scheme} store opens"
            yield Finding(OK, "database", opens)
            problems = store.check()
            yield from (Finding(BAD, "database", problem.what, problem.mend) for problem in problems)
            if not problems:
                yield Finding(OK, "integrity", "rows and indexes agree")
            yield from modes
            yield from _check_witness(settings, store.extent())
            yield from _check_project(store, settings, folder)
            heard, hosts = last_events(store), activity(store)
    except (HoldfastError, OSError) as exc:
        yield failure("database", exc, _mend_store(exc, settings))
        return
    if not heard:
        yield Finding(NOTE, "heartbeat", "no hook was heard yet: restart running sessions of the host")
    else:
        ago = datetime.now(UTC) - heard[0].at
        line = f"{WORDS.get(heard[0].kind, heard[0].kind)} from {heard[0].host}, {ago_words(ago)} ago"
        if ago > QUIET:
            yield Finding(NOTE, "heartbeat", f"{line}: nothing was written since", SETUP)
        else:
            yield Finding(OK, "heartbeat", line)
    yield from check_heard(settings, hosts)


def _check_witness(settings: Settings, now: Extent) -> Iterator[Finding]:
    loss = find_loss(settings.home, settings.store, now)
    if loss is not None:
        mend = f"put the database back, or {MEND} to go on with what is there"
        yield Finding(BAD, "database", loss.words, mend)


def mend_store(settings: Settings) -> Iterator[Finding]:
    """Set damaged rows aside, and take what the store holds for all there is."""
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
        yield Finding(NOTE, "mended", f"damaged rows set aside, none deleted: {words}")
    if loss is not None:
        yield Finding(NOTE, "mended", f"accepted: {loss.words}")


def check_capture(settings: Settings) -> Iterator[Finding]:
    """What hooks of the last days could not do in time or not at all, by host, and what still waits."""
    since = (datetime.now(UTC) - timedelta(days=COUNTED_DAYS)).strftime("%Y-%m-%d")
    for host, counts in sorted(read_counts(settings.run_path, since).items()):
        late, spooled, dropped = (counts.get(what, 0) for what in (LATE, SPOOLED, DROPPED))
        what = f"{host}: {late} late, {spooled} spooled, {dropped} dropped in {COUNTED_DAYS} days"
        if dropped:
            yield Finding(BAD, "answers", f"{what}: events were lost; see {settings.log_path}", "holdfast backfill")
        else:
            yield Finding(NOTE if late else OK, "answers", what)
    files = waiting(settings.run_path)
    if files:
        yield Finding(NOTE, "spool", f"{counted(len(files), 'call')} of hooks waiting to be kept", "holdfast status")
    if aside := unreadable(settings.run_path):
        folder = os.path.join(settings.run_path, FOLDER)
        yield Finding(NOTE, "spool", f"{counted(aside, 'file')} in {folder} cannot be read and was set aside")


def _mend_store(exc: Exception, settings: Settings) -> str:
    """The command that ends a file's trouble; empty where the error's own hint says it. Nothing is ever deleted."""
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


def _check_project(store: Store, settings: Settings, folder: str) -> Iterator[Finding]:
    """Whether the folder's files declare a project id that does not count there."""
    try:
        line = claim_line(find_place(store, settings, folder))
    except HoldfastError as exc:
        yield failure("project", exc)
        return
    if line:
        yield Finding(NOTE, "project", line, f"if this repository is yours: {ACCEPT}")


def _check_new_store(settings: Settings) -> Iterator[Finding]:
    above = settings.home
    while not os.path.exists(above):
        above = os.path.dirname(above)
    if os.access(above, os.W_OK):
        yield Finding(NOTE, "database", f"{settings.database_path} is not there yet: it is made at first use")
    else:
        yield Finding(BAD, "database", f"{above} cannot be written", f"chmod u+w {shlex.quote(above)}")


def _check_modes(settings: Settings) -> Iterator[Finding]:
    if os.name != "posix":
        return  # Windows keeps what is in a user's folder from others, and its modes say nothing
    path = settings.database_path
    exposed = [name for name in (path, path + "-wal", path + "-shm") if path and _mode(name) & 0o077]
    for name in exposed:
        yield Finding(BAD, "permissions", f"others can read {name}", f"chmod 600 {shlex.quote(name)}")
    if _mode(settings.home) & 0o022:
        yield Finding(
            BAD, "permissions", f"others can write {settings.home}", f"chmod 700 {shlex.quote(settings.home)}"
        )
    elif path and not exposed:
        yield Finding(OK, "permissions", "the database is yours alone")


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0


def check_hosts(settings: Settings) -> Iterator[Finding]:
    """What setup wrote is still in the hosts' files, and names programs that are there; hosts that are not set up."""
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
            yield Finding(NOTE, "hooks", f"{host.profile.title}: {TWICE}", mend)
        else:
            yield Finding(OK, "hooks", f"{host.profile.title} has Holdfast's plug-in package")
    if not (wired or packaged):
        yield Finding(BAD, "hooks", "no host is set up: nothing is captured or delivered", SETUP)
    for file, entry in manifest.items():
        edits = [edit for edit in entry["edits"] if edit["owner"].split(":")[1] in SETUP_SCOPES]
        if edits:
            yield from _check_file(file, edits)
    yield from _check_approvals([host for host in hosts if host.name in wired], settings)
    for host in hosts if wired else ():
        if host not in packaged and host.name not in wired and host.find(settings.user_home):
            yield Finding(NOTE, "hooks", f"{host.profile.title} is here and not set up", f"{SETUP} {host.name}")


def check_backups(settings: Settings) -> Iterator[Finding]:
    """Where the copies of hosts' files are that uninstall restores, and that nobody else can read them."""
    names = backups(settings.home)
    if not names:
        return
    folder = os.path.join(settings.home, BACKUPS)
    exposed = [path for name in names if _mode(path := os.path.join(folder, name)) & 0o077]
    if exposed and os.name == "posix":
        yield Finding(BAD, "backups", f"others can read {exposed[0]}", f"chmod 600 {shlex.quote(folder)}/*")
    else:
        what = f"{len(names)} of hosts' files as they were before setup, in {folder}, until uninstall restores them"
        yield Finding(OK, "backups", what)


def check_launcher(settings: Settings) -> Iterator[Finding]:
    """The launcher is there and starts this installation, where a host is set up to start it."""
    try:
        files = HostFiles(settings.home)
        change = launcher.plan(files, settings)
    except HoldfastError as exc:
        yield failure("launcher", exc)
        return
    if not set_up(files.manifest):
        return
    if change.held is None:
        yield Finding(BAD, "launcher", f"{change.file} is gone: hooks say nothing", SETUP)
    elif change.needed:
        yield Finding(BAD, "launcher", f"{change.file} starts another installation, or one that is gone", SETUP)
    else:
        yield Finding(OK, "launcher", f"{change.file} starts this installation")


def _check_file(file: str, edits: list[dict[str, Any]]) -> Iterator[Finding]:
    """Whether the file still holds our edits: then putting them in anew would change nothing."""
    setup = _setup_of(edits[0])
    try:
        with open(file, "rb") as stream:
            text = stream.read().decode("utf-8-sig")
        missing = [edit for edit in edits if not forms.holds(file, text, forms.parse_edit(file, edit))]
    except (OSError, ValueError, HoldfastError) as exc:
        yield Finding(BAD, "hooks", f"{file} cannot be read: {exc}", setup)
        return
    gone = sorted({path for edit in edits for path in _programs(edit) if not os.path.exists(path)})
    for edit in missing:
        where = ".".join([*edit.get("path", ()), *filter(None, [edit.get("key")])]) or "the file's own text"
        yield Finding(BAD, "hooks", f"our entry is missing in {file}: {where}", _setup_of(edit))
    for path in gone:
        yield Finding(BAD, "hooks", f"{file} names {path}, which is gone", setup)
    old = next((why for edit in edits if (why := _why_old(edit))), "")
    if old:
        yield Finding(BAD, "hooks", f"an older version wrote our entry in {file}: {old}", setup)
    if not missing and not gone and not old:
        yield Finding(OK, "hooks", f"{len(edits)} {'entries' if len(edits) > 1 else 'entry'} in {file}")


def _why_old(edit: dict[str, Any]) -> str:
    """What is wrong with an entry that an older version wrote; empty for one of this version."""
    text = edit.get("text") or json.dumps(edit.get("value"))
    if SERVER in text and '"-I"' not in text:
        return "the server would run modules of the repository it is started in"
    if os.name == "posix" and HOOK_PROGRAM in text and LAUNCHER not in text:
        return "without Holdfast's package it would stop the agent"
    return ""


def _check_approvals(hosts: Sequence[Host], settings: Settings) -> Iterator[Finding]:
    """Whether each host runs our hooks that skips them until its user has approved each."""
    for host in hosts:
        approvals = host.approvals(settings.user_home)
        if approvals is None:
            continue
        try:
            hooks = approvals.find()
        except HoldfastError as exc:
            what = f"whether our hooks are approved is not known: {exc}"
            yield Finding(NOTE, host.name, what, approvals.by_hand)
            continue
        skipped = [hook for hook in hooks if hook.state != "trusted"]
        if skipped:
            what = f"{approvals.title} skips {len(skipped)} of our hooks: they are {skipped[0].state}"
            yield Finding(BAD, host.name, what, f"{SETUP} {host.name} --trust")
        else:
            yield Finding(OK, host.name, f"{len(hooks)} hooks approved")


def _programs(value: Any) -> Iterator[str]:
    """Absolute paths of programs that an entry's commands name."""
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


def check_program() -> Iterator[Finding]:
    """The interpreter, and the compiled form of what hooks import."""
    package = package_folder()
    yield Finding(OK, "program", f"Python {sys.version.split()[0]} at {interpreter()}")
    stale = [name for name in LEAN_MODULES if not _is_compiled(os.path.join(package, *name.split("/")))]
    if stale:
        mend = f"{shlex.quote(interpreter())} -I -m compileall -q {shlex.quote(package)}"
        yield Finding(NOTE, "start-up", f"{stale[0]} is not compiled: every hook starts slowly", mend)
    else:
        yield Finding(OK, "start-up", "what hooks import is compiled")


def _is_compiled(source: str) -> bool:
    compiled = cache_from_source(source)
    return os.path.exists(compiled) and os.path.getmtime(compiled) >= os.path.getmtime(source)


def check_switches(settings: Settings) -> Iterator[Finding]:
    """What the user has switched off, and what hooks wrote into their log."""
    if not settings.capture:
        yield Finding(NOTE, "capture", "is off: HOLDFAST_OFF or capture = false in " + settings.config_path)
    if not settings.deliver:
        yield Finding(NOTE, "delivery", "is off")
    try:
        with open(settings.log_path, encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return
    for line in lines[-LOG_LINES:]:
        yield Finding(NOTE, "hooks.log", line[:300])
