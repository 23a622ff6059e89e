"""Every host's recorded hook payloads, made to be about the hook benchmark's repository and lessons."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.wiring import load_host

if TYPE_CHECKING:
    from benchmarks.hook import Bench

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "golden" / "hosts"
FILE = re.compile(r"(?<![\w/])(?:src|ledger)/[a-z_]+\.py")
"""A file that a recording names, relative to its project."""
PROJECT = re.compile(r"/home/ada/(?:shop|ledger|parcels)\b")
PROMPT, COMMAND, ERROR = "Round amounts half to even.", "pytest -q", "ValueError: odd cents"
SESSIONS = ("session_id", "conversation_id", "conversationId", "trajectory_id")


def recorded_hosts() -> list[str]:
    """Hosts with recorded payloads, but for Claude Code, of which the benchmark has payloads of its own."""
    hosts = {case.parents[1].name.replace("_", "-") for case in RECORDED.glob("*/*/payload.json")}
    return sorted(hosts - {"claude-code"})


def arguments_of(host: str) -> list[str]:
    """What follows the program in the command that set-up registers with the host."""
    plan = load_host(host).plan_install("user", "", "/home/ada", ("python", "holdfast", "launcher"))
    return [host, *(["--plain"] if "--plain" in repr(plan.edits) else [])]


class Recordings:
    """A host's recorded payloads, without the ends of sessions: each starts a learner, which would run beside us."""

    def __init__(self, host: str) -> None:
        files = sorted((RECORDED / host.replace("-", "_")).glob("*/payload.json"))
        named = {file.parent.name: file.read_text("utf-8") for file in files}
        self.texts = {case: text for case, text in named.items() if case != "session_end"}

    def payloads(self, bench: Bench) -> dict[str, dict[str, Any]]:
        """One of each case, each in a session of its own, about a file, a command and words that lessons are about."""
        words = bench.next_words()
        prompt = f"The {words.noun} of {words.area} looks wrong, see {words.symbol}. Fix it."
        transcript_line = json.dumps({"type": "USER_INPUT", "content": prompt})
        (bench.repository / "transcript.jsonl").write_text(transcript_line + "\n")
        swaps = {PROMPT: prompt, COMMAND: words.command, ERROR: words.error}
        made = {}
        for case, text in self.texts.items():
            adapted = PROJECT.sub(str(bench.repository), text).replace(f"{bench.repository}/", "@/")
            adapted = FILE.sub(words.path, adapted.replace("@/", "@")).replace("@", f"{bench.repository}/")
            for old, new in swaps.items():
                adapted = adapted.replace(old, json.dumps(new)[1:-1])
            payload = json.loads(adapted)
            made[case] = payload | {key: f"{bench.turn}-{case}" for key in SESSIONS if key in payload}
        return made
