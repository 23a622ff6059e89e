"""From starting the MCP server to its answer to tools/list, against a bare SDK server and a bare interpreter.

    python benchmarks/mcp_start.py [--rounds 15] [--json FILE]

"As registered" is the server of a host that has hooks of ours, whose first answers are constants, as `holdfast setup`
registers it; `holdfast mcp` is what people type. Without hooks the instructions hold what matters and need the memory,
which has a lesson here. All are started in turn, so that a busy machine slows all. Also: resident memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = """
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool()
def echo(text: str) -> str:
    "Echo."
    return text
server.run(transport="stdio")
"""
BARE_SDK, HOOKED, TYPED, BRIEFED = (
    "bare SDK, one tool",
    "as registered, with hooks",
    "holdfast mcp, hooks",
    "holdfast mcp, brief",
)
START = str(Path(__file__).resolve().parent.parent / "src" / "holdfast" / "surfaces" / "start.py")
PROGRAM = str(Path(sys.executable).with_name("holdfast"))
OPENING: list[dict[str, object]] = [
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list", "params": {}},
]
RECALL = {"id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "how are amounts kept"}}}


class Server:
    """A server process spoken to line by line."""

    def __init__(self, arguments: list[str], home: str) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        environment |= {"HOLDFAST_HOME": home, "HOME": home}
        self._running = subprocess.Popen(
            [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, cwd=home, env=environment,
        )  # fmt: skip

    def send(self, message: dict[str, object]) -> None:
        assert self._running.stdin is not None
        self._running.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._running.stdin.flush()

    def answer(self, number: int) -> dict[str, object]:
        assert self._running.stdout is not None
        for line in self._running.stdout:
            message: dict[str, object] = json.loads(line)
            if message.get("id") == number:
                return message
        raise RuntimeError("the server ended")

    def resident_mb(self) -> float:
        status = Path(f"/proc/{self._running.pid}/status")
        rows = [row for row in status.read_text().splitlines() if row.startswith("VmRSS")] if status.exists() else []
        return int(rows[0].split()[1]) / 1024 if rows else 0.0

    def close(self) -> None:
        self._running.communicate(timeout=20)


def first_answer_s(arguments: list[str], home: str) -> tuple[float, Server]:
    begun = time.perf_counter()
    server = Server(arguments, home)
    for message in OPENING:
        server.send(message)
    server.answer(1)
    return time.perf_counter() - begun, server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases = {
        BARE_SDK: ["-c", BARE],
        HOOKED: ["-I", START, "holdfast.surfaces.mcp.__main__", "--hooked"],
        TYPED: [PROGRAM, "mcp", "--hooked"],
        BRIEFED: [PROGRAM, "mcp"],
    }
    times: dict[str, list[float]] = {name: [] for name in ("bare interpreter", *cases)}
    resident = 0.0
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOLDFAST_HOME": home, "HOME": home}
        remember = [sys.executable, PROGRAM, "remember", "Amounts are kept in whole cents", "-C", home]
        subprocess.run(remember, env=environment, check=True, stdout=subprocess.DEVNULL)
        for _ in range(options.rounds):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
            times["bare interpreter"].append(time.perf_counter() - begun)
            for name, arguments in cases.items():
                taken, server = first_answer_s(arguments, home)
                times[name].append(taken)
                if name != BARE_SDK:
                    server.send(RECALL)
                    server.answer(2)
                    resident = max(resident, server.resident_mb())
                server.close()
    report(times, resident, options.json)


def report(times: dict[str, list[float]], resident_mb: float, file: Path | None) -> None:
    medians = {name: sorted(taken)[len(taken) // 2] for name, taken in times.items()}
    bare, sdk = medians["bare interpreter"], medians[BARE_SDK]
    to_sdk, to_interpreter, typed = medians[HOOKED] / sdk, medians[HOOKED] / bare, medians[TYPED] / bare
    result = {
        "median_s": {name: round(taken, 3) for name, taken in medians.items()},
        "ratio_to_bare_sdk": round(to_sdk, 3),
        "aim_ratio_to_bare_sdk": 0.3,
        "ratio_to_interpreter": round(to_interpreter, 3),
        "ratio_as_typed_to_interpreter": round(typed, 3),
        "aim_ratio_to_interpreter": 2.5,
        "ratio_with_brief_to_interpreter": round(medians[BRIEFED] / bare, 3),
        "resident_mb_after_recall": round(resident_mb, 1),
        "aim_resident_mb": 100,
        "rounds": len(next(iter(times.values()))),
    }
    for name, taken in medians.items():
        print(f"{name:24} {taken * 1000:7.0f} ms (median)")
    print(f"with hooks: {to_sdk:.2f} of a bare SDK server (aim 0.3), {to_interpreter:.2f} interpreters (aim 2.5)")
    print(f"as typed: {typed:.2f} interpreters (aim 2.5); with a brief {medians[BRIEFED] / bare:.2f}")
    print(f"resident after a recall {resident_mb:.0f} MB (aim: under 100)")
    if file:
        file.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
