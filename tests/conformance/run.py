"""The official conformance suite and the Inspector's command line against our MCP server.

    python tests/conformance/run.py [--write]

Installs both, at exact versions, under .make/conformance. Ends with 1 and a line for each finding; says so and ends
with 0 where there is no npm or nothing can be installed. `--write` brings docs/reference/conformance.md up to what was
seen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INSTALLED = ROOT / ".make" / "conformance"
PAGE = ROOT / "docs" / "reference" / "conformance.md"
REVISIONS = ("2025-11-25", "2026-07-28")
NODE_LEAST = (22, 19)
PACKAGES = INSTALLED / "node_modules" / "@modelcontextprotocol"
SUITE = PACKAGES / "conformance" / "dist" / "index.js"
INSPECTOR = PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"
LIMIT_S = 240
LESSONS = [{"insight": "Cents are kept in money.py"}, {"insight": "Retries are capped at 3"}]
FLAGS = (
    "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=1",
    "--fetch-timeout=30000",
)  # fmt: skip

STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")
"""What the suite adds to a scenario's name where it keeps its results."""

Checks = list[tuple[str, str]]
"""Ids with SUCCESS, FAILURE, WARNING, or what does not count."""
Scenarios = dict[str, Checks]
Results = dict[str, Scenarios]
"""By revision."""


class Setting(NamedTuple):
    """Where the servers run: nothing in it is anybody's own."""

    node: str
    folder: Path
    environment: dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    missing = install()
    if missing:
        print(f"conformance: NOT RUN, {missing}")
        return 0
    with tempfile.TemporaryDirectory(prefix="holdfast-conformance-") as scratch, serving(scratch) as (setting, url):
        results: Results = {revision: run_suite(setting, url, revision) for revision in REVISIONS}
        with serving_team(setting) as link:
            of_team: Results = {revision: run_suite(setting, link, revision, "team-") for revision in REVISIONS}
        unexpected = (f"team server: {line}" for line in find_unexpected(of_team))
        findings = [*judge(results), *unexpected, *inspect(setting)]
    page = render(results)
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
        print(f"conformance: {PAGE.relative_to(ROOT)} tells it otherwise; --write mends that")
    print("\n".join(findings) or f"conformance: fine, {len(REVISIONS)} revisions and the Inspector in both eras")
    return 1 if findings else 0


# Installing


def install() -> str:
    """Why the programs cannot be run here, or nothing when they can."""
    npm = shutil.which("npm")
    if npm is None:
        return "there is no npm"
    wanted = (HERE / "package.json").read_text()
    done = INSTALLED / "package.json"
    if not (SUITE.exists() and INSPECTOR.exists() and done.exists() and done.read_text() == wanted):
        shutil.rmtree(INSTALLED, ignore_errors=True)
        INSTALLED.mkdir(parents=True)
        done.write_text(wanted)
        try:
            subprocess.run([npm, "install", *FLAGS], cwd=INSTALLED, capture_output=True, timeout=LIMIT_S, check=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as exc:
            done.unlink()
            return f"npm could not install it: {(exc.stderr or b'').decode(errors='replace').strip()[-300:]}"
    return "" if find_node() else f"there is no node of {'.'.join(map(str, NODE_LEAST))} or later"


def find_node() -> str:
    """A node that is new enough: the one that was installed with the rest, else the machine's; empty without any."""
    bundled = [str(path) for path in (INSTALLED / "node_modules").glob("node-*/bin/node")]
    for path in [*bundled, shutil.which("node")]:
        version = (
            subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout if path else ""
        )
        if path and version and tuple(map(int, version.strip().lstrip("v").split(".")[:2])) >= NODE_LEAST:
            return path
    return ""


@contextmanager
def serving(scratch: str) -> Iterator[tuple[Setting, str]]:
    """A server over HTTP with a memory of its own, and its URL."""
    folder = Path(scratch) / "code"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("CLAUDE", "HOLDFAST", "npm_"))
    }
    setting = Setting(
        find_node(),
        folder,
        {**environment, "HOME": scratch, "HOLDFAST_HOME": f"{scratch}/.holdfast", "HOLDFAST_HOLDOUT": "0"},
    )
    command = [sys.executable, str(HERE / "serve.py")]
    with subprocess.Popen(
        command, cwd=folder, env=setting.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield setting, server.stdout.readline().strip()
        finally:
            server.terminate()


@contextmanager
def serving_team(setting: Setting) -> Iterator[str]:
    """`holdfast serve` over a file of its own; the link for MCP that a reader may paste, for one project."""
    home = f"{setting.environment['HOME']}/team"
    environment = {**setting.environment, "HOLDFAST_HOME": home, "HOLDFAST_SERVE_LOG_FORMAT": "json"}
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=setting.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        key = server.stdout.readline().strip()
        entries = (json.loads(line) for line in server.stderr if line.startswith("{"))
        address = next(entry["address"] for entry in entries if entry["event"] == "listening")
        threading.Thread(target=server.stderr.read, daemon=True).start()
        try:
            post(f"{address}/v1/projects", key, {"id": "p", "name": "p"})
            made = post(
                f"{address}/v1/tokens", key, {"name": "link", "kind": "service", "role": "reader", "projects": ["p"]}
            )
            yield f"{address}/v1/mcp/{made['text']}"
        finally:
            server.terminate()


def post(url: str, key: str, fields: dict[str, object]) -> dict[str, str]:
    """The answer of an operation of the REST interface."""
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    with urlopen(Request(url, json.dumps(fields).encode(), headers), timeout=LIMIT_S) as answer:
        fields = json.load(answer)
    return {name: str(value) for name, value in fields.items()}


# The suite


def run_suite(setting: Setting, url: str, revision: str, folder: str = "") -> Scenarios:
    """Status of every check of every scenario that the revision requires."""
    output_folder = setting.folder.parent / f"{folder}{revision}"
    command = [setting.node, str(SUITE), "server", "--url", url, "--requirements", revision, "-o", str(output_folder)]
    subprocess.run(command, capture_output=True, env=setting.environment, timeout=LIMIT_S, check=False)
    scenarios: Scenarios = defaultdict(list)
    for file in sorted(output_folder.glob("*/checks.json")):
        scenario = STAMP.sub("", file.parent.name.removeprefix("server-"))
        scenarios[scenario] += [(check["id"], check["status"]) for check in json.loads(file.read_text())]
    return dict(scenarios)


def expected() -> list[tuple[str, list[str]]]:
    """Reasons, each with the patterns of the checks that fail for it."""
    groups = tomllib.loads((HERE / "expected_failures.toml").read_text())["group"]
    return [(group["reason"], group["checks"]) for group in groups]


def judge(results: Results) -> Iterator[str]:
    """A line for every check that fails unexpectedly, and for every expectation that nothing failed."""
    patterns = {pattern for _, checks in expected() for pattern in checks}
    failed = {name for scenarios in results.values() for name in failures(scenarios)}
    yield from find_unexpected(results)
    for pattern in sorted(patterns):
        if not any(fnmatchcase(name, pattern) for name in failed):
            yield f"expected to fail, but does not: {pattern}"


def find_unexpected(results: Results) -> Iterator[str]:
    """A line for every check that fails unexpectedly."""
    patterns = {pattern for _, checks in expected() for pattern in checks}
    for revision, scenarios in results.items():
        if len(scenarios) < 20:
            yield f"{revision}: only {len(scenarios)} scenarios ran"
        for name in failures(scenarios):
            if not any(fnmatchcase(name, pattern) for pattern in patterns):
                yield f"{revision}: {name} fails"


def failures(scenarios: Scenarios) -> list[str]:
    """The checks that failed, as `scenario/check`."""
    return [f"{name}/{check}" for name, checks in scenarios.items() for check, status in checks if status == "FAILURE"]


# The Inspector


def inspect(setting: Setting) -> Iterator[str]:
    """A line for every call of the Inspector that does not answer as it should."""
    program = (sys.executable, "-m", "holdfast.surfaces.mcp")
    options = [word for key in ("HOME", "HOLDFAST_HOME") for word in ("-e", f"{key}={setting.environment[key]}")]
    stdio = (*options, "--cwd", str(setting.folder), *program)
    rule = [sys.executable, "-m", "holdfast", "remember", "Cents, no floats"]
    subprocess.run(rule, cwd=setting.folder, env=setting.environment, capture_output=True, check=True)
    for era, call, wanted in (
        ("legacy", ("tools/list", "--strict"), '"outputSchema"'),
        ("modern", ("tools/list", "--strict"), '"outputSchema"'),
        (
            "legacy",
            ("tools/call", "--tool-name", "remember", "--tool-args-json", json.dumps({"lessons": LESSONS})),
            "2. saved [",
        ),
        ("modern", ("resources/read", "--uri", "holdfast://brief"), "Cents, no floats"),
        ("legacy", ("prompts/get", "--prompt-name", "recall", "--prompt-args", "query=cents"), "Cents"),
        ("modern", ("tools/call", "--tool-name", "recall", "--tool-arg", "query=cents"), '"structuredContent"'),
    ):
        method, *rest = call
        command = [setting.node, str(INSPECTOR), "--cli", *stdio, "--method", method, *rest]
        command += ["--protocol-era", era, "--format", "json"]
        ran = subprocess.run(
            command, capture_output=True, text=True, env=setting.environment, timeout=LIMIT_S, check=False
        )
        if ran.returncode or wanted not in ran.stdout:
            yield f"inspector, {era}, {method}: {ran.returncode} {(ran.stderr or ran.stdout).strip()[-300:]}"


# The page

HEAD = """# MCP conformance

Results of the protocol's official suite (`@modelcontextprotocol/conformance` {suite}) for the MCP server, for \
each scenario that a revision requires of servers. The suite speaks HTTP; tests put it \
before the server. The same checks run against a team server's `/v1/mcp`, by a reader's link, where no other check may \
fail. `python tests/conformance/run.py --write` makes this page; \
`make conformance` fails if another check fails, or if one of the checks below passes.

A scenario passes when none of its checks fails; the number of checks is in brackets. The suite is written around a \
reference server with tools such as `test_simple_text`. A check that needs these tools does not apply to other \
servers; such checks are listed below with the reason. Some scenarios pass only because Holdfast correctly refuses a \
tool that it does not have.

"""


def render(results: Results) -> str:
    """The page: scenarios by revision, and why some do not apply."""
    names = list(dict.fromkeys(name for revision in reversed(REVISIONS) for name in results[revision]))
    rows = [f"| scenario | {' | '.join(REVISIONS)} |", "|---" * (len(REVISIONS) + 1) + "|"]
    rows += [f"| {name} | {' | '.join(word(results[r].get(name)) for r in REVISIONS)} |" for name in names]
    suite = json.loads((HERE / "package.json").read_text())["dependencies"]["@modelcontextprotocol/conformance"]
    text = HEAD.format(suite=suite) + "\n".join(rows) + "\n\n## What fails, and why\n\n"
    failed = sorted({name for scenarios in results.values() for name in failures(scenarios)})
    for reason, checks in expected():
        hit = [name for name in failed if any(fnmatchcase(name, pattern) for pattern in checks)]
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(name.partition("/")[0] for name in hit))
        text += f"- {reason[0].upper()}{reason[1:]}: {listed} ({len(hit)} checks).\n"
    return text


def word(checks: Checks | None) -> str:
    """A scenario's outcome: passes, or how many of its checks fail, all of them expected."""
    statuses = [status for _, status in checks or () if status in ("SUCCESS", "FAILURE", "WARNING")]
    failed, warned = statuses.count("FAILURE"), statuses.count("WARNING")
    notes = f", {warned} with advice" if warned else ""
    if not statuses:
        return "" if checks is None else "nothing to check"
    return f"{failed} of {len(statuses)} not applicable{notes}" if failed else f"passes ({len(statuses)}{notes})"


if __name__ == "__main__":
    sys.exit(main())
