"""Writes src/holdfast/lean/hostmarks.py, the facts that identify a host before its adapter is loaded, from profiles.

python scripts/render_host_marks.py            writes the file
python scripts/render_host_marks.py --check    exit 1 when it is not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from holdfast import plugins
from holdfast.ports.host import Host

TARGET = Path(__file__).resolve().parent.parent / "src" / "holdfast" / "lean" / "hostmarks.py"
HEAD = '''"""Facts that identify a host before its adapter is loaded: loading all adapters would cost a hook too much.

`scripts/render_host_marks.py` generates this file from the hosts' profiles; edit those.
"""

from __future__ import annotations
'''


def render() -> str:
    """The module's text."""
    hosts: list[Host] = [plugins.load("hosts", name) for name in plugins.names("hosts")]
    started = sorted((host for host in hosts if host.profile.marks.started), key=_rank)
    clients = sorted((client, host.name) for host in hosts for client in host.profile.marks.client_names)
    unmarked = [host.name for host in hosts if host.profile.marks.is_unmarked]
    if len(unmarked) != 1:
        raise ValueError(f"one host is taken for the caller where no mark is found, not {unmarked}")
    pieces = [
        HEAD,
        _pairs(
            "FOLDER_VARIABLES",
            ((host.name, host.profile.marks.folder) for host in hosts if host.profile.marks.folder),
            "Hosts, and the variables that move the folders with their files.",
        ),
        _pairs(
            "STARTED_VARIABLES",
            ((host.profile.marks.started, host.name) for host in started),
            "Variables that hosts set for the processes they start; a host inside another comes before the outer one.",
        ),
        _pairs(
            "SESSION_VARIABLES",
            ((host.profile.marks.session, host.name) for host in hosts if host.profile.marks.session),
            "Variables with the session's id, and the hosts that set them for the MCP servers they start.",
        ),
        _pairs(
            "CLIENT_NAMES", clients, "Beginnings of the names of MCP clients that differ from their host's adapter."
        ),
        _words(
            "IMITATED",
            (host.name for host in hosts if host.profile.marks.is_imitated),
            "Hosts whose files other hosts also search for hooks.",
        ),
        _words(
            "CONTEXT_FILES",
            sorted({host.profile.context_file for host in hosts} - {""}),
            "Files with standing rules that hosts put into an agent's context.",
        ),
        f'UNMARKED = "{unmarked[0]}"\n"""The host that is assumed where no mark is found."""\n',
    ]
    return "\n".join(pieces)


def _rank(host: Host) -> tuple[int, str]:
    return host.profile.marks.started_rank, host.name


def _pairs(name: str, pairs: Iterable[tuple[str, str]], meaning: str) -> str:
    return _tuple(name, "tuple[str, str]", [f'("{key}", "{value}")' for key, value in pairs], meaning)


def _words(name: str, words: Iterable[str], meaning: str) -> str:
    return _tuple(name, "str", [f'"{word}"' for word in words], meaning)


def _tuple(name: str, of: str, rows: list[str], meaning: str) -> str:
    value = f"({rows[0]},)" if len(rows) == 1 else "(\n" + "".join(f"    {row},\n" for row in rows) + ")"
    return f'{name}: tuple[{of}, ...] = {value}\n"""{meaning}"""\n'


def main() -> int:
    """Write the file, or compare with it."""
    text = render()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
