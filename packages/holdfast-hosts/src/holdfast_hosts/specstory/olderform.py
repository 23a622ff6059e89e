"""Reads an agent's turn in SpecStory's Markdown before version 2, where only the shape of a part shows the tool.

Parts are separated by lines of three dashes. A part is one of: words; `Read file: PATH`; a table in `<details>` for a
search or a listing; a `bash` fence and a plain one for a command and its output; `diff` fences for the hunks of one
edit. Copilot's edits are among the words, as `### [name](file:///path)` and a fence, or as an empty fence after the
file's name.

Cursor's exports do not name an edit's file. It is assumed to be the only file that the words before it name, or else
the export's file that has most of the edit's lines in the project today; otherwise it is unknown. A name without a
folder means the only file of that name in the export or the project.

Sources: exports in the public repositories edobry/minsky, google-gemini/gemini-cli, MichaelPaulukonis/polychrome.p5;
2026-11-22.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import read_text
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay

FENCE = re.compile(r"^(`{3,})(\w*)[ \t]*$")
READ = re.compile(r"^Read file: (.+)$")
TABLE = re.compile(r"^<details>\s*<summary>(.*?)</summary>(.*?)</details>$", re.DOTALL)
LISTED = re.compile(r"^Listed directory (\S+)")
SEARCHED = re.compile(r'^(?:Searched codebase|Grep search for) "(.*)"')
NOTHING = "**0**"
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
HEADING = re.compile(r"^### \[[^\]]+\]\(file://([^)]+)\)[ \t]*$")
NAMED = re.compile(r"`([\w@.~/-]*[\w-]\.[A-Za-z]\w{0,5})`")
LEFT_OUT = re.compile(r"^.*\.\.\.\s*existing code\s*\.\.\..*$", re.MULTILINE)
CANCELLED = "Cancelled"
NOT_LOOKED_INTO = frozenset(
    {"node_modules", "vendor", "venv", "site-packages", "__pycache__", "dist", "build", "target"}
)
FILES_LIMIT = 20_000
"""Files of a project that are looked at for their names."""
CANDIDATES = 200
"""Files that an export names which are searched for an edit's lines."""
TELLING = 12
"""Characters of a line that tells a file from others."""
SIZE_LIMIT = 1_000_000
"""Bytes of a file that is searched."""


class OlderTurns:
    """Reads the agent's turns of one export, in order; remembers files that were named or read."""

    def __init__(self, telling: TranscriptReplay) -> None:
        self._telling = telling
        self._calls = 0
        self._names = _Names(telling.cwd)
        self._last_named: list[str] = []

    def read(self, body: str) -> Iterator[Event]:
        """Yield the events of a turn."""
        self._last_named = []
        for part in _parts(body):
            yield from self._part(part)

    def _part(self, part: list[str]) -> Iterator[Event]:
        text = "\n".join(part).strip()
        blocks = list(_blocks(part))
        table, file = TABLE.match(text), READ.match(text)
        if text in ("", CANCELLED):
            return
        if file:
            self._names.learn(file[1].strip())
            self._last_named = []
            yield from self._call("Read", {"file_path": file[1].strip()}, {})
        elif table:
            yield from self._search(table[1], table[2])
        elif [language for language, _ in blocks] == ["bash", ""]:
            yield from self._command(blocks[0][1].strip(), blocks[1][1])
        elif blocks and all(language == "diff" for language, _ in blocks):
            yield from self._diff([shown for _, shown in blocks])
        else:
            yield from self._words(part)

    def _search(self, summary: str, rows: str) -> Iterator[Event]:
        paths = [self._names.learn(_path(name)) for name in ROW.findall(rows) if name != "undefined"]
        response = {"filenames": list(dict.fromkeys(paths)), "numFiles": 0 if NOTHING in summary else len(paths)}
        listed, searched = LISTED.match(summary), SEARCHED.match(summary)
        if listed:
            yield from self._call("LS", {"path": listed[1]}, {"filenames": [listed[1]]})
        elif searched:
            yield from self._call("Grep", {"pattern": searched[1]}, response)

    def _command(self, command: str, shown: str) -> Iterator[Event]:
        self._last_named = []
        yield from self._call("Bash", {"command": command}, {"stdout": _output(command, shown), **UNANSWERED})

    def _diff(self, hunks: list[str]) -> Iterator[Event]:
        edits = [change(_with_short_marks(hunk)) for hunk in hunks]
        lines = "\n".join(edit["new_string"] for edit in edits).split("\n")
        named = self._last_named[0] if len(self._last_named) == 1 else ""
        if hunks[0].startswith(("- \n+", "-\n+")) and self._names.is_told(named):
            named = ""  # a new file cannot have been read before
        file = named or self._names.holding(lines)
        self._last_named = []
        yield from self._call("MultiEdit", {"file_path": file, "edits": edits}, {})

    def _words(self, part: list[str]) -> Iterator[Event]:
        """Yield words, and Copilot's edits among them."""
        words, edits, heading = list[str](), list[tuple[str, str]](), ""
        for kind, text in _pieces(part):
            file = HEADING.match(text)
            if kind == "line" and file:
                heading = self._names.learn(_path("file://" + file[1]))
            elif kind != "line" and heading:
                edits.append((heading, LEFT_OUT.sub("", text).strip("\n")))
                heading = ""
                continue
            elif kind == "" and not text.strip():
                edits.append((self._last_path(words), ""))
                continue
            words.append(text if kind == "line" else f"```{kind}\n{text}\n```")
        reply = "\n".join(words)
        named = (self._names.find(name) for name in NAMED.findall(reply))
        self._last_named = list(dict.fromkeys(name for name in named if name))
        yield from self._telling.reply(reply)
        for file_path, new in edits:
            yield from self._call("Edit", {"file_path": file_path, "new_string": new}, {})

    def _call(self, tool: str, arguments: dict[str, object], response: object) -> Iterator[Event]:
        self._calls += 1  # without times a command that ran twice would otherwise be one event
        yield from self._telling.call(tool, arguments, response, f"call-{self._calls}")

    def _last_path(self, words: list[str]) -> str:
        """Return the file that was named last; empty if its folder is unknown."""
        named = NAMED.findall("\n".join(words))
        return self._names.find(named[-1]) if named else ""


class _Names:
    """Paths by their file names, from the export or else from the project."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._told: dict[str, str] = {}
        self._in_project: dict[str, str] | None = None

    def learn(self, path: str) -> str:
        """Remember the path and return it."""
        _add(self._told, path)
        return path

    def find(self, name: str) -> str:
        """Return the path of that name; empty if there is none, or more than one."""
        if "/" in name:
            return name
        if name in self._told:
            return self._told[name]
        if self._in_project is None:
            self._in_project = _names_under(self._root) if self._root else {}
        return self._in_project.get(name, "")

    def is_told(self, path: str) -> bool:
        """Return whether the export has named that very file."""
        return path in self._told.values()

    def holding(self, lines: list[str]) -> str:
        """Return the export's path whose file has most of the significant lines; empty without a single best."""
        wanted = {line.strip() for line in lines if len(line.strip()) >= TELLING}
        shares: list[tuple[int, str]] = []
        for path in list(self._told.values())[:CANDIDATES] if self._root and wanted else ():
            count = len(wanted.intersection(_lines_under(self._root, path)))
            if count >= max(1, len(wanted) // 2):
                shares.append((count, path))
        shares.sort(reverse=True)
        alone = len(shares) == 1 or (len(shares) > 1 and shares[0][0] > shares[1][0])
        return shares[0][1] if alone else ""


@lru_cache(maxsize=64)
def _lines_under(root: str, path: str) -> frozenset[str]:
    """Return the stripped lines of a project's file; none if it is not a plain file in the project."""
    file = os.path.normpath(os.path.join(root, path))
    try:
        if not path or not file.startswith(root.rstrip(os.sep) + os.sep) or not os.path.isfile(file):
            return frozenset()
        if os.path.getsize(file) > SIZE_LIMIT:
            return frozenset()
        return frozenset(line.strip() for line in read_text(file).split("\n"))
    except (OSError, ValueError):
        return frozenset()


def _names_under(root: str) -> dict[str, str]:
    """Return the paths of a project's files by their names, without hidden folders and other people's code."""
    names: dict[str, str] = {}
    seen = 0
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in NOT_LOOKED_INTO]
        seen += len(files)
        if seen > FILES_LIMIT:
            return {}  # with an incomplete list no name is known to be unique
        for name in files:
            _add(names, os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))
    return names


def _add(names: dict[str, str], path: str) -> None:
    """Store a path by its file name; two paths of one name count as none."""
    name = path.rpartition("/")[2]
    names[name] = path if names.get(name, path) == path else ""


def change(diff: str) -> dict[str, str]:
    """Return the removed and added text of a diff."""
    lines = [line for line in diff.split("\n") if not line.startswith(("---", "+++"))]
    return {
        "old_string": "\n".join(line[1:] for line in lines if line.startswith("-")),
        "new_string": "\n".join(line[1:] for line in lines if line.startswith("+")),
    }


def _with_short_marks(diff: str) -> str:
    """Return the diff with marks of one character: older exports write a blank after each."""
    lines = diff.split("\n")
    if any(line[1:2].strip() for line in lines):
        return diff
    return "\n".join(line[:1] + line[2:] for line in lines)


def _parts(body: str) -> Iterator[list[str]]:
    """Yield the lines of each part; dashes inside a fence do not separate parts."""
    part: list[str] = []
    fence = ""
    for line in body.split("\n"):
        fence = _fence_after(fence, line)
        if not fence and line.strip() == "---":
            yield part
            part = []
        else:
            part.append(line)
    yield part


def _fence_after(fence: str, line: str) -> str:
    """Return the marks of the fence that is open after the line; empty for none."""
    mark = FENCE.match(line)
    if not mark:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1] == fence and not mark[2] else fence


def _pieces(part: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each line as (`line`, text), each fence as (language, inside)."""
    fence, language, inside = "", "", list[str]()
    for line in part:
        after = _fence_after(fence, line)
        if after and not fence:
            mark = FENCE.match(line)
            language, inside = mark[2] if mark else "", []
        elif fence and not after:
            yield language, "\n".join(inside)
        elif fence:
            inside.append(line)
        else:
            yield "line", line
        fence = after
    if fence:
        yield from (("line", line) for line in inside)


def _blocks(part: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the fences of a part that holds nothing else; nothing for other parts."""
    pieces = [piece for piece in _pieces(part) if piece[0] != "line" or piece[1].strip()]
    if not any(kind == "line" for kind, _ in pieces):
        yield from pieces


def _output(command: str, shown: str) -> str:
    """Return what a command printed, without the shell's prompts around it."""
    lines = shown.strip("\n").split("\n")
    first = command.partition("\n")[0]
    prompt = lines[0].rstrip().removesuffix(first).rstrip() if lines[0].rstrip().endswith(first) else ""
    if prompt:
        lines = lines[1:]
    return "\n".join(line for line in lines if not prompt or line.rstrip() != prompt).strip()


def _path(name: str) -> str:
    """Return a plain path for a `file://` address."""
    return unquote(name.removeprefix("file://")) if name.startswith("file://") else name
