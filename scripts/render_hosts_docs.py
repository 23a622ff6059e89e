"""Renders docs/reference/hosts.md from what the adapters say of their hosts.

python scripts/render_hosts_docs.py            writes the file
python scripts/render_hosts_docs.py --check    exit 1 when it is not up to date
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from holdfast import plugins
from holdfast.domain.moments import CHANNELS, MOMENT_PROFILES
from holdfast.plugins import HOSTS_ELSEWHERE, HOSTS_PACKAGE
from holdfast.ports.host import Host, RulesTarget
from holdfast.wiring import load_host

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the tests lie beside the package, not in it

from tests.hosts_live.story import COLUMNS  # noqa: E402

RESULTS = ROOT / "tests" / "hosts_live" / "results.json"
Live = dict[str, dict[str, str]]
TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "hosts.md"
MOMENTS = {moment: MOMENT_PROFILES[moment].label for moment in CHANNELS}
HEAD = """# Hosts

Made from the adapters by `scripts/render_hosts_docs.py`; edit those, not this file. `holdfast setup --list` prints the
same with what is on your machine.

`holdfast setup` wires every host it finds to one memory: the MCP server, and hooks where the host has them. A file's
own formatting and comments stay; `holdfast uninstall` restores the bytes of every file. A file that cannot be changed
safely stays as it is, and `holdfast setup` shows what to add by hand.

**Deliveries** are the moments at which the host's hooks can give lessons to the model: at a session's start, on a
prompt, for a file, before a command, after a failure, after a compaction. Hosts without any get lessons through the MCP
tools and through rules files (`holdfast rules sync`).

"run" among the sources means that `make hosts-live` ran the program itself, at that version. The table below has the
results. For every other host the facts come from documentation, source code or other people's measurements.

Adapters of hosts that were never run are in a package of their own: `pip install holdfast-hosts`, into the environment
of Holdfast.

An agent of your own in Python is the host `own-agent`: it needs no set-up and reports its session through the
[SDK](sdk.md).
"""

LIVE_HEAD = """## Seen in the running programs

Each program works on a small repository with a scripted model. The first session teaches: a failing test is fixed, the
user corrects the agent, and the user says "Remember that ...". Later sessions should receive the lessons.
`make hosts-live` runs the story again.
"""

LIVE_NOTES = """
- Cline resumes a session only in a terminal, so each prompt is a separate session here. On a machine with ten times
  more work than cores, the first session after a restart received no lessons in two of five runs. The probable cause is
  that Cline waits only 4 s for a plug-in.
- Codex hides MCP tools behind a search, which the scripted model uses when a tool is not listed. Codex does not wait
  for servers. The scripted model therefore takes 0.4 s for an answer; otherwise a session would end before a server is
  up.
- Continue has no hooks: lessons reach it only through the MCP tools. `holdfast backfill` learns from its sessions.
- "An unrelated prompt is left alone" concerns the prompt only. At a session's start, when no prompt is known yet,
  recent rules of the project may be delivered. Holdfast withholds some deliveries to measure their worth, but not in
  these runs.
- The story does not cover compaction, sub-agents, terminal interfaces, editors, and programs that need an account.
"""

READ_ONLY = """# Other programs' transcripts

Nothing is set up for these; `holdfast backfill` reads what they recorded.
"""


def main() -> int:
    """Write the page, or with `--check` compare it. Return 1 if the check finds it out of date, else 0."""
    wanted = render()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.exists() and TARGET.read_text(encoding="utf-8") == wanted else 1
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


def render() -> str:
    """Return the text of the whole page."""
    hosts = [load_host(name.replace("_", "-")) for name in plugins.names("hosts")]
    hosts.sort(key=lambda host: host.profile.title.casefold())
    wired = [host for host in hosts if host.profile.mcp or host.profile.hooks or host.profile.rules]
    read = [host for host in hosts if host not in wired and host.profile.transcripts]
    live = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    parts = (HEAD, *_table(wired), "", *_live_table(live), *_sections(wired, live), READ_ONLY, *_sections(read, live))
    return "\n".join(parts)


def _live_table(live: Live) -> Iterator[str]:
    """Yield the table of the live runs: a row for each observation and a column for each host."""
    yield LIVE_HEAD
    yield "| | " + " | ".join(f"{name} {row['version']}" for name, row in live.items()) + " |"
    yield "|---" * (len(live) + 1) + "|"
    for key, title in COLUMNS.items():
        cells = (row.get(key, "-") if key != "hooks" else _mark(row[key] not in ("no", "-")) for row in live.values())
        yield f"| {title} | {' | '.join(cells)} |"
    yield LIVE_NOTES


def _table(hosts: list[Host]) -> Iterator[str]:
    yield f"| host | name | MCP | hooks | {' | '.join(MOMENTS.values())} | transcripts | rules |"
    yield "|---|---|---" + "|---" * (len(MOMENTS) + 3) + "|"
    for host in hosts:
        profile = host.profile
        able = (_mark(moment in profile.moments) for moment in MOMENTS)
        cells = (_mark(profile.mcp), _mark(profile.hooks), *able, _mark(profile.transcripts), _mark(profile.rules))
        yield f"| {profile.title} | `{host.name}` | {' | '.join(cells)} |"


def _sections(hosts: list[Host], live: Live) -> Iterator[str]:
    for host in hosts:
        yield from _section(host, live.get(host.name, {}))


def _section(host: Host, played: dict[str, str]) -> Iterator[str]:
    profile = host.profile
    yield f"## {profile.title}\n"
    yield f"- name: `{host.name}`" + (f", in the package `{HOSTS_PACKAGE}`" if host.name in HOSTS_ELSEWHERE else "")
    files = (("MCP server", profile.mcp), ("hooks", profile.hooks), ("transcripts", profile.transcripts))
    yield from (f"- {name}: {_code(where)}" for name, where in files if where)
    if profile.rules:
        yield "- rules: " + ", ".join(map(_rules, profile.rules))
    yield from (f"- {text}" for text in profile.notes)
    run = (f"run: {played['version']}, {played['date']}",) if played else ()
    yield f"- sources: {'; '.join((*run, *profile.sources))}\n"


def _code(where: str) -> str:
    """Return `where` formatted as code if it is a path, else unchanged."""
    return f"`{where}`" if " " not in where else where


def _rules(target: RulesTarget) -> str:
    """Return the file, and the files that the host reads instead if they exist."""
    others = [name for name in target.first_of if name != target.file]
    return f"`{target.file}`" + (f" (or the first of {', '.join(others)} that exists)" if others else "")


def _mark(flag: object) -> str:
    return "yes" if flag else "-"


if __name__ == "__main__":
    sys.exit(main())
