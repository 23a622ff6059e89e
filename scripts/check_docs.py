"""Refuses links and paths in the documents that lead nowhere.

    python scripts/check_docs.py

Checked are relative links with their anchors, and paths in backticks that begin with a folder of the repository or
a room of the package. Decision records and the changelog may name what is gone; their links are checked. Exit 1 with
one line a finding.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"
FOLDERS = ("src", "tests", "scripts", "benchmarks", "docs", "examples", "plugins", "launcher")
HISTORY = ("docs/adr/", "docs/releases/", "CHANGELOG.md")

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")
_MODULE = re.compile(r"\bbenchmarks(?:\.\w+)+")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def main() -> int:
    """The number of findings, at most 1."""
    pages = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
    findings = [finding for page in pages for finding in _check(page)]
    print("\n".join(findings) if findings else "documents: fine", file=sys.stderr if findings else sys.stdout)
    return min(1, len(findings))


def _check(page: Path) -> Iterator[str]:
    where = page.relative_to(ROOT).as_posix()
    text = page.read_text(encoding="utf-8")
    prose = _FENCE.sub("", text)
    for target in _LINK.findall(prose):
        if not re.match(r"[a-z]+:", target) and not _leads_somewhere(page, target):
            yield f"{where}: link to {target}"
    if where.startswith(HISTORY):
        return
    for code in _CODE.findall(prose):
        if _PATH.fullmatch(code) and _is_ours(code) and not _exists(code):
            yield f"{where}: path {code}"
    for module in set(_MODULE.findall(text)):
        path = ROOT / module.replace(".", "/")
        if not path.with_suffix(".py").exists() and not path.is_dir():
            yield f"{where}: module {module}"


def _leads_somewhere(page: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    return file.exists() and (not anchor or file.suffix != ".md" or anchor in _anchors(file))


def _anchors(page: Path) -> set[str]:
    """The names that a forge gives to the headings of a page."""
    headings = re.findall(r"^#+ +(.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _is_ours(path: str) -> bool:
    first = path.partition("/")[0]
    return first in FOLDERS or (PACKAGE / first).is_dir() or first == "_shared"


def _exists(path: str) -> bool:
    """Return whether a file or folder, a module, or a name in a module is there."""
    for root in (ROOT, PACKAGE, PACKAGE / "hosts", ROOT / "src"):
        at = root / path
        owner = root / path.rpartition(".")[0]  # `text/window.speaker_trust`
        if at.exists() or Path(f"{at}.py").exists() or (owner != root and Path(f"{owner}.py").exists()):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
