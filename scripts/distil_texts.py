"""Collects software text, and pairs of texts that say the same, from clones of public repositories.

    python scripts/distil_texts.py --clones FOLDER --out texts.jsonl

`FOLDER` holds a git directory or checkout of each repository that scripts/distil_sources.json lists, as
`owner+name/repo` or `owner+name`; the text is that of the commit named there. One JSON object a line: `kind`, `text`
and, where the source gives one, `other`: a commit's subject and body, a heading and its first paragraph, a name and its
documentation. The choice is seeded by the text itself, so that the same sources give the same file.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).with_name("distil_sources.json")
MOST = {"commit": 1800, "log": 500, "doc": 1100, "name": 1500, "comment": 700}
"""Texts of a kind taken from one repository."""
SHORTEST, LONGEST = 12, 400
FILES = 4_000
"""Files of one repository that are looked at."""
DOCUMENTS = (".md", ".mdx", ".rst", ".adoc")
CODE = (".py", ".go", ".rs", ".ts", ".tsx", ".js", ".java", ".rb", ".c", ".cc", ".h")
LOGS = ("changelog", "changes", "history", "news", "release", "whatsnew")
SKIPPED = (
    "/vendor/",
    "/node_modules/",
    "/_vendor/",
    "third_party",
    "/fixtures/",
    "/testdata/",
    "/snapshots/",
    "/i18n/",
)
TRAILER = re.compile(r"^[A-Z][\w-]+(-[Bb]y|-[Ii]d|[Ll]og|)?: \S.*(@|[0-9a-f]{7}).*$|^(Co-authored|Signed-off)-by", re.I)
ROUTINE = re.compile(
    r"^(merge |bump |chore\(deps|build\(deps|v?\d+(\.\d+)+|release |update (contributors|changelog|release)|revert \")"
    r"|dependabot|renovate|\[bot\]|deps-dev|^(.*: )?update [\w./@-]+ to v?\d|📝 Update release notes|⬆",
    re.I,
)
NUMBER = re.compile(r"\s*\(?(closes?|fix(es)?|resolves?|refs?|see|gh|issue|pr)?[ -:]*#\d+\)?|\bhttps?://\S+", re.I)
MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|`+:?|:[\w:-]+:(?=`)|\*\*|~~|<[^>\n]{1,80}>|^[>#|\s*+-]+", re.M)
LINE_COMMENT = re.compile(r"((?:^[ \t]*(?://[/!]?|#) ?[^\n]*\n)+)[ \t]*([^\n]*)", re.M)
BLOCK_COMMENT = re.compile(r"/\*\*?([^/]{20,2000}?)\*/\s*\n?[ \t]*([^\n]*)")
NAMED = re.compile(
    r"\b(?:func(?:tion)?(?: \([^)]*\))?|fn|def|class|struct|type|enum|trait|interface|const|let)\s+(\w{4,})"
)
METHOD = re.compile(r"\b([a-z]\w*[a-z][A-Z]\w*)\s*\(")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Text(NamedTuple):
    """A text, and another one that says the same or belongs to it (empty: none)."""

    kind: str
    text: str
    other: str = ""


def main() -> int:
    """Write the texts; the number of repositories that were not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    missing = 0
    seen: set[str] = set()
    with options.out.open("w", encoding="utf-8") as stream:
        for source in json.loads(SOURCES.read_text(encoding="utf-8"))["repositories"]:
            clone = find_clone(options.clones, source["repository"])
            if clone is None:
                print(f"{source['repository']}: no clone", file=sys.stderr)
                missing += 1
                continue
            count = 0
            for text in collect(clone, source["commit"]):
                if text.text.lower() not in seen:
                    seen.add(text.text.lower())
                    row = text._asdict() | {"repository": source["repository"]}
                    stream.write(json.dumps(row, ensure_ascii=False) + "\n")
                    count += 1
            print(f"{source['repository']}: {count}", file=sys.stderr)
    return missing


def find_clone(folder: Path, repository: str) -> Path | None:
    """Where the repository's git directory or checkout is below the folder."""
    checkout = folder / repository.replace("/", "+")
    return next((place for place in (checkout / "repo", checkout) if place.is_dir()), None)


def collect(clone: Path, commit: str) -> list[Text]:
    """The chosen texts of one repository, at most MOST of a kind."""
    chosen: list[Text] = []
    texts = [*commits(clone, commit), *documents(clone, commit)]
    for kind, most in MOST.items():
        by_text = {text.text: text for text in texts if text.kind == kind}
        chosen += sorted(by_text.values(), key=lambda text: _draw(text.text))[:most]
    return chosen


def commits(clone: Path, commit: str) -> Iterator[Text]:
    """Subjects with their bodies, merges and routine updates left out."""
    log = _git(clone, "log", "--no-merges", "--format=%s%x01%b%x00", "-n", "30000", commit)
    for entry in log.split("\0"):
        subject, _, body = entry.strip().partition("\1")
        if ROUTINE.search(subject):
            continue
        lines = (line for line in body.splitlines() if not TRAILER.search(line))
        title, rest = tidy(NUMBER.sub("", subject)), tidy(NUMBER.sub("", "\n".join(lines)))
        if fits(title):
            yield Text("commit", title, rest if fits(rest) else "")
            if fits(rest):
                yield Text("commit", rest)


def documents(clone: Path, commit: str) -> Iterator[Text]:
    """Texts of documents and code at the commit."""
    names = _git(clone, "ls-tree", "-r", "--name-only", commit).splitlines()
    wanted = [name for name in names if name.endswith(DOCUMENTS + CODE) and not any(part in name for part in SKIPPED)]
    for name, text in _contents(clone, commit, sorted(wanted, key=_draw)[:FILES]):
        if name.endswith(DOCUMENTS):
            yield from of_log(text) if any(word in name.lower() for word in LOGS) else of_document(text)
        else:
            yield from of_python(text) if name.endswith(".py") else of_code(text)


def of_log(text: str) -> Iterator[Text]:
    """The entries of a list of changes."""
    for entry in re.split(r"\n(?=\s*[-*+] )|\n\s*\n", text):
        line = tidy(NUMBER.sub("", entry))
        if fits(line) and not re.match(r"v?\d+\.", line):
            yield Text("log", line)


def of_document(text: str) -> Iterator[Text]:
    """Paragraphs, the first after a heading paired with it."""
    heading = ""
    for block in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", text, flags=re.S)):
        if match := re.match(r"\s*(?:[#=]{1,4} (.+)|([^\n]+)\n[=~^\"'*-]{4,})\s*\n?", block):
            heading = tidy(match[1] or match[2] or "")
            block = block[match.end() :]
        line = tidy(block)
        if fits(line) and len(line) >= 40 and not line.startswith(("..", "|", "import ")):
            yield Text("doc", line, heading if 8 <= len(heading) <= 120 else "")
            heading = ""


def of_python(text: str) -> Iterator[Text]:
    """Docstrings with the names they document."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            line = tidy((ast.get_docstring(node) or "").partition("\n\n")[0])
            if fits(line):
                yield Text("name", line, split_name(node.name))


def of_code(text: str) -> Iterator[Text]:
    """Comments, those above a definition with its name."""
    for pattern, marks in ((LINE_COMMENT, r"^\s*(//[/!]?|#!?)"), (BLOCK_COMMENT, r"^\s*\*")):
        for match in pattern.finditer(text[:200_000]):
            line = tidy(re.split(r"\n\s*\n|\n\s*@", re.sub(marks, "", match[1], flags=re.M))[0])
            if not fits(line) or "license" in line.lower() or "copyright" in line.lower():
                continue
            name = NAMED.search(match[2]) or METHOD.search(match[2])
            words = split_name(name[1]) if name else ""
            yield Text("name", line, words) if words else Text("comment", line)


def split_name(name: str) -> str:
    """The words of an identifier, or nothing when it has only one."""
    words = WORDS.findall(name)
    return " ".join(word if word.isupper() else word.lower() for word in words) if len(words) > 1 else ""


def tidy(text: str) -> str:
    """One line without markup, cut at a word."""
    line = " ".join(MARKUP.sub(lambda match: match[1] or "", text).split())
    return line if len(line) <= LONGEST else line[:LONGEST].rpartition(" ")[0]


def fits(text: str) -> bool:
    """Whether it is text: long enough, of at least three words, mostly letters, English as far as its script tells."""
    letters = sum(c.isalpha() and c.isascii() for c in text)
    return len(text) >= SHORTEST and text.count(" ") >= 2 and letters >= 0.65 * len(text)


def _draw(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _git(clone: Path, *words: str) -> str:
    command = ["git", "-C", str(clone), *words]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")


def _contents(clone: Path, commit: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name and text of each file, read through one git that stays open."""
    command = ["git", "-C", str(clone), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None
        for name in names:
            if "\n" in name:
                continue
            cat.stdin.write(f"{commit}:{name}\n".encode())
            cat.stdin.flush()
            head = cat.stdout.readline().split()
            if len(head) == 3:
                text = cat.stdout.read(int(head[2]) + 1)
                yield name, text.decode("utf-8", "replace").replace("\r\n", "\n")


if __name__ == "__main__":
    sys.exit(main())
