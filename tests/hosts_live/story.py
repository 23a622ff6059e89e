"""What one host does with Holdfast: set up, a session that teaches, sessions that are told, taken away again."""

from __future__ import annotations

from typing import Any

from tests.hosts_live import parcels
from tests.hosts_live.lab import Machine, handed_over, offers_recall, strings

Facts = dict[str, Any]

COLUMNS = {
    "hooks": "hooks heard",
    "failure_known": "a failing command is known as failing",
    "pass_known": "the same command passing within a minute",
    "cause_proven": "a bug's cause is learnt as proven",
    "correction": "the user's correction is learnt",
    "remember": "“Remember that …” is learnt",
    "at_start_or_prompt": "delivered at the start or on the prompt",
    "with_file": "a file's lesson is delivered before or after it is read",
    "unrelated": "an unrelated prompt is left alone",
    "tools": "MCP tools are offered",
    "recall": "MCP `recall` is answered",
    "own_answers": "Holdfast's own answers are not learnt",
    "asked": "asked once what a session taught",
    "stated": "two lessons stated in one call are confirmed, and told to the next session",
    "refused": "who states nothing is not asked again",
    "uninstall": "uninstall restores every file exactly",
}
"""The rows of the table of live runs, by their keys. A cell holds `yes`, `no` or words."""


def play(machine: Machine, *, record: bool = False) -> Facts:
    """The facts of one host; with `record` what its hooks get and how long they take is kept on the machine."""
    program = machine.program
    facts: Facts = {"version": program.version(machine.environment())}
    machine.ask(parcels.UNRELATED)  # the first run, which writes the host's own files
    machine.end_background()  # what goes on writing would look like a change of setup's
    before = machine.files()
    setup = machine.holdfast("setup", program.name, "--yes", *(["--trust"] if program.trusts else []))
    facts["setup"] = setup.output.strip()
    wired = {name for name, digest in machine.files().items() if before.get(name) != digest}
    if record:
        machine.record_hooks()
    repair = machine.ask(parcels.REPAIR)
    repair += machine.ask(parcels.CORRECTION, resumed=True)
    machine.ask(parcels.REMEMBER, resumed=True)
    if not program.has_hooks:
        facts["backfill"] = machine.holdfast("backfill").output
    lessons = machine.wait_until_learnt()
    machine.git("commit", "-q", "--allow-empty", "-a", "-m", "Mend the limit")
    machine.ask(parcels.UNRELATED)
    band = machine.ask(parcels.BAND)
    label = machine.ask(parcels.LABEL)
    events = machine.events()
    facts |= _heard(events) | _learnt(lessons) | _told(band, label)
    facts["unrelated"] = _yes(not machine.delivered("prompt", parcels.UNRELATED))
    if not program.has_hooks:
        facts |= dict.fromkeys(("hooks", "at_start_or_prompt", "with_file"), "-")
    own = [event for event in events if event.get("tool", "").endswith(("recall", "remember"))]
    facts["own_answers"] = _yes(not own)
    facts["lessons"] = [(lesson["kind"], lesson["state"], lesson["insight"]) for lesson in lessons]
    facts |= _asked(repair, lessons, band + label) | _refused(machine)
    if record:
        machine.stop_recording()
    facts["log"] = machine.holdfast("log").output
    facts["doctor"] = machine.holdfast("doctor").output
    facts["status"] = machine.holdfast("status").output
    touched = {name for name, digest in machine.files().items() if name in wired}
    facts["uninstalled"] = machine.holdfast("uninstall").output
    left = machine.files()
    facts["not_given_back"] = sorted(
        name for name in touched if left.get(name) != before.get(name) and not _hosts_own(name, left, machine)
    )
    facts["uninstall"] = _yes(not facts["not_given_back"])
    return facts


def _hosts_own(name: str, left: dict[str, str], machine: Machine) -> bool:
    """Whether a file that the host itself writes at every run holds nothing of ours."""
    if name not in left:
        return False
    return b"holdfast" not in (machine.home / name).read_bytes().lower()


def _heard(events: list[Facts]) -> Facts:
    commands = [event for event in events if event.get("command")]
    failed = [event for event in commands if event["kind"] == "tool_failure"]
    runs = [event for event in commands if event["command"].startswith(parcels.TESTS)]
    passed = [event for event in runs if event["kind"] == "tool_result" and event.get("exit_code") == 0]
    return {
        "hooks": ", ".join(dict.fromkeys(event["kind"] for event in events)) or "no",
        "failure_known": _yes({parcels.MISSING, parcels.TESTS} <= {event["command"] for event in failed}),
        "pass_known": _yes(passed and any(event in failed for event in runs)),
    }


def _learnt(lessons: list[Facts]) -> Facts:
    def has(words: str, trust: str, *states: str) -> bool:
        return any(
            words in lesson["insight"] and lesson["trust"] == trust and lesson["state"] in states for lesson in lessons
        )

    return {
        # A repair that a test proves waits for a person; a statement alone has the agent's trust.
        "cause_proven": _yes(has("compared with", "verified", "candidate")),
        "correction": _yes(has("floats", "person", "active")),
        "remember": _yes(has("warehouse printer", "person", "active")),
    }


def _asked(session: list[Facts], lessons: list[Facts], next_session: list[Facts]) -> Facts:
    """Whether the agent was asked once at the end, or by the MCP instructions, and what it stated."""
    if not _times_asked(session[-1]):
        by_server = any("call remember once" in text for request in session for text in strings(request["body"]))
        return {"asked": "by its MCP server" if by_server else "no", "stated": "-"}
    blocks = handed_over(next_session)
    confirmed = [lesson["insight"] for lesson in lessons if lesson["state"] == "active" and lesson["trust"] == "agent"]
    stated = [entry["insight"] in confirmed and entry["insight"][:30] in blocks for entry in parcels.STATED]
    return {"asked": _yes(_times_asked(session[-1]) == 1), "stated": _yes(all(stated))}


def _refused(machine: Machine) -> Facts:
    """Whether an agent that states nothing is let go: its next turn with real work brings no second question."""
    machine.model.turns = parcels.REFUSAL
    session = machine.ask(parcels.BREAK) + machine.ask(parcels.MEND, resumed=True)
    times = _times_asked(session[-1])
    return {"refused": _yes(times == 1) if times else "-"}


def _times_asked(request: Facts) -> int:
    return sum(text.count(parcels.ASKED) for text in strings(request["body"]))


def _told(band: list[Facts], label: list[Facts]) -> Facts:
    answers = [text for request in band for text in strings(request["body"]) if "warehouse printer" in text]
    return {
        "at_start_or_prompt": _yes("printer" in handed_over(label[:1]) or "floats" in handed_over(band[:1])),
        "with_file": _yes(handed_over(band[1:]) or handed_over(label[1:])),
        "tools": _yes(offers_recall(band)),
        "recall": _yes(offers_recall(band) and answers),
    }


def _yes(fact: object) -> str:
    return "yes" if fact else "no"
