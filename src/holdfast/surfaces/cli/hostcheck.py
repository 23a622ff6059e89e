"""What doctor reports, and its lines for each host: its version, its last events and delivery, what a start cuts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.capture.sessionevents import HostActivity
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError
from holdfast.installing.hostfiles import MANIFEST, HostFiles, set_up
from holdfast.ports.host import HostProfile
from holdfast.ports.services import Services
from holdfast.recall.deliver import prepare
from holdfast.settings import Settings
from holdfast.wiring import load_host

OK, NOTE, BAD = "ok", "note", "bad"
VERSION_TIMEOUT_S = 10.0
"""Seconds that a host's program may take to tell its version."""
QUIET = timedelta(days=3)
"""After that long without an event a host is mentioned."""
BARREN_ALARM = 12
"""Sessions with real work, in a row, that taught nothing: then something is wrong."""
LEARN_ON = "holdfast learn --on"
"""Switches on learning with the user's own agent."""
DOCTOR = SessionId("doctor")
"""A session that was never told anything."""
COMMANDS = 10
"""Known commands of which at least one fails in any real work."""
WORDS = {
    "session_start": "start", "tool_result": "result", "tool_failure": "failure", "file_edit": "edit",
    "session_end": "end"
}  # fmt: skip
"""Short words for kinds of events whose name has two words."""


class CheckFinding(NamedTuple):
    """The result of one check. Status `bad` is a problem; `mend` is the command that solves it."""

    status: str
    name: str
    what: str
    mend: str = ""


def failure(name: str, exc: Exception, mend: str = "") -> CheckFinding:
    """Return a bad finding with the error's message; `mend` defaults to the error's hint."""
    hint = exc.hint if isinstance(exc, HoldfastError) else ""
    return CheckFinding(BAD, name, str(exc) or type(exc).__name__, mend or hint)


def check_heard(settings: Settings, heard: Mapping[str, HostActivity]) -> Iterator[CheckFinding]:
    """Yield a finding for each host that is set up."""
    try:
        wired = sorted(set_up(HostFiles(settings.home).manifest))
    except HoldfastError:
        return  # `check_hosts` reports it
    for name in wired:
        try:
            profile = load_host(name, settings).profile
        except HoldfastError as exc:
            yield failure(name, exc)
            continue
        yield judge(name, profile, heard.get(name, HostActivity()), datetime.now(UTC), setup_time(settings))


def setup_time(settings: Settings) -> datetime:
    """Return when a host was last set up; the epoch if none is. Silence before that means nothing."""
    path = os.path.join(settings.home, MANIFEST)
    return datetime.fromtimestamp(os.stat(path).st_mtime if os.path.exists(path) else 0, UTC)


def barren_words(count: int) -> str:
    """Return what that many sessions without a lesson mean; empty if they are too few to mean anything."""
    return f"the last {count} sessions with real work taught no lesson" if count >= BARREN_ALARM else ""


def cut_of(services: Services, location: Location, name: str) -> str:
    """Return how many lessons a session's start tells of how many, in words; empty if it tells all."""
    profile = services.host(name).profile
    if "session_start" not in profile.moments:
        return ""
    services = replace(services, holdout=0.0)
    call = HookCall(host=name, name="", session=DOCTOR, cwd=location.root, moment="session_start")
    briefing = prepare(services, location, call, earlier=()).briefing
    if not briefing.more:
        return ""
    lines = len(briefing.entries)
    most = f"{profile.start_tokens:,} tokens and {profile.start_characters:,} characters"
    return (
        f"a session's start is cut to {lines} of {lines + briefing.more} lessons because {profile.title} accepts {most}"
    )


def judge(
    name: str, profile: HostProfile, activity: HostActivity, now: datetime, since: datetime | None = None
) -> CheckFinding:
    """Return the finding for one host that was last set up at `since`."""
    version, fault = version_of(profile)
    if fault:
        return CheckFinding(BAD, name, fault)
    head = f"{version}; " if version else ""
    if not profile.hooks:
        return CheckFinding(OK, name, f"{head}no hooks: `holdfast backfill` learns from its sessions")
    if activity.heard_at is None:
        return CheckFinding(NOTE, name, f"{head}no event yet: start a session, or restart a running one")
    kinds = ", ".join(WORDS.get(kind, kind) for kind in activity.kinds)
    delivered = activity.delivered_at
    last = f"last delivery {ago_words(now - delivered)} ago" if delivered else "nothing delivered yet"
    line = f"{head}last event {ago_words(now - activity.heard_at)} ago ({kinds}); {last}"
    alarm = alarm_of(activity, now, since)
    return CheckFinding(NOTE, name, f"{line}. {alarm}") if alarm else CheckFinding(OK, name, line)


def alarm_of(activity: HostActivity, now: datetime, since: datetime | None = None) -> str:
    """Return why a host's hooks may have stopped working, or "" if there is no sign of that.

    Silence counts from the last event of a hook, or from the last setup if that is later.
    """
    if activity.heard_at is None:
        return ""
    silence = now - max(activity.heard_at, since or activity.heard_at)
    if silence > QUIET:
        span = ago_words(silence)
        return f"No event for {span}: are its hooks still trusted and switched on?"
    if activity.commands >= COMMANDS and not activity.failures:
        return f"{activity.commands} commands were reported and none failed: the host may not report failures"
    return ""


def alarms(settings: Settings, heard: Mapping[str, HostActivity], now: datetime) -> Iterator[tuple[str, str]]:
    """Yield each host that is set up and gives reason for an alarm, with the reason. No program is started."""
    for name in sorted(set_up(HostFiles(settings.home).manifest)):
        alarm = alarm_of(heard.get(name, HostActivity()), now, setup_time(settings))
        if alarm:
            yield name, alarm


def version_of(profile: HostProfile) -> tuple[str, str]:
    """Return the version of the host's program, and what is wrong with it; both are "" if it is not on the PATH."""
    name = profile.headless.program if profile.headless else ""
    program = shutil.which(name) if name else None
    if program is None:
        return "", ""
    try:
        ran = subprocess.run([program, "--version"], capture_output=True, timeout=VERSION_TIMEOUT_S, check=False)
    except (OSError, subprocess.SubprocessError) as exc:
        return "", f"{name} --version: {exc}"
    if ran.returncode:
        return "", f"{name} --version ended with exit {ran.returncode}"
    number = re.search(r"\d+(?:\.\d+)+", ran.stdout.decode("utf-8", "replace"))
    return (number[0] if number else ""), ""


def ago_words(span: timedelta) -> str:
    """Return the span in minutes, hours or days."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 120:
        return f"{max(minutes, 0)} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"
