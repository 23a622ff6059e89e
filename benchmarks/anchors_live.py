"""Anchors on the real history of projects in many languages: what is said of each definition from release to release.

    python -m benchmarks.anchors_live --data DIR [--sample 60] [--json FILE] [--show]

`--data` holds a git directory per repository of PAIRS, at `<owner>+<name>/repo`; one that is not there is left out.
At the older release every definition is anchored; at the newer one a sample of each class is judged. The classes come
from the bytes and from git alone: untouched (the same text at the same name), layout (the same but for white space),
in a renamed file (git pairs the files, and the same text is at the same name there), and gone (its name is not in its
file, nor in the file that git pairs with it). What is followed of `gone` is printed with --show, to be read. With
`freshness/` in the folder the labelled Python histories are measured by benchmarks/freshness.py besides.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.contract.memorystore import MemoryStore

from holdfast.codeindex.local import LocalCodeIndex
from holdfast.codeindex.source import read_source
from holdfast.domain.symbol import Verdict
from holdfast.rendering.verdicts import verdict_words
from holdfast.stores.sqlite.indexfile import make_index
from holdfast.wiring import SystemClock
from holdfast.workspace.local import LocalWorkspace

PAIRS = (
    ("Go", "gin-gonic+gin", "v1.4.0", "v1.10.0"),
    ("TypeScript", "sindresorhus+got", "v11.0.0", "v14.4.0"),
    ("JavaScript", "expressjs+express", "4.17.0", "v5.0.0"),
    ("Java", "google+gson", "gson-parent-2.8.1", "gson-parent-2.12.1"),
    ("C#", "serilog+serilog", "v2.10.0", "v4.0.0"),
    ("PHP", "guzzle+guzzle", "6.5.0", "7.8.0"),
    ("Ruby", "sinatra+sinatra", "v2.0.0", "v4.2.0"),
    ("Rust", "BurntSushi+ripgrep", "0.10.0", "13.0.0"),
    ("C", "jqlang+jq", "jq-1.5", "jq-1.6"),
)
CLASSES = ("untouched", "layout", "in a renamed file", "gone")
FLAGGED = ("drifted", "changed", "orphaned")

Texts = dict[tuple[str, str], bytes]
"""Path and name, and the text of all definitions of that name."""


def main() -> int:
    options = _options()
    rows = []
    for language, folder, older, newer in PAIRS:
        repository = options.data / folder / "repo"
        if not repository.is_dir():
            print(f"{folder}: left out, it is not in {options.data}", file=sys.stderr)
            continue
        rows.append({"language": language, "repository": folder, **_replay(repository, older, newer, options)})
        _print(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=60, help="definitions of each class that are judged")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", action="store_true", help="also print what was flagged, missed or followed")
    return parser.parse_args()


def _replay(repository: Path, older: str, newer: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        _git(scratch, "clone", "-q", "--shared", "--no-checkout", str(repository), str(tree))
        _git(tree, "checkout", "-q", "--detach", older)
        then = dict(_texts(tree))
        renames = dict(_renames(tree, older, newer))
        workspace = LocalWorkspace(MemoryStore(), SystemClock(), timeout_scale=20)
        index = make_index({"path": f"{scratch}/index.db"})
        with LocalCodeIndex(workspace, lambda location: index, SystemClock(), search_s=60) as code:
            _git(tree, "checkout", "-q", "--detach", newer)
            classes = _classes(then, dict(_texts(tree)), renames)
            sampled = {name: list(_sample(keys, options.sample)) for name, keys in classes.items()}
            _git(tree, "checkout", "-q", "--detach", older)
            location = workspace.locate(str(tree))
            wanted = [key for keys in sampled.values() for key in keys]
            anchors = {(path, name): code.anchors(location, path, [name], None)[0] for path, name in wanted}
            _git(tree, "checkout", "-q", "--detach", newer)
            location = workspace.locate(str(tree))
            code.refresh(location)
            verdicts = {key: code.verdict(location, anchor) for key, anchor in anchors.items()}
        if options.show:
            _show(sampled, verdicts)
        return {
            "definitions": len(then),
            **{name: _measure(name, len(classes[name]), keys, verdicts, renames) for name, keys in sampled.items()},
        }


def _texts(tree: Path) -> Iterator[tuple[tuple[str, str], bytes]]:
    for path in _git(tree, "ls-files").splitlines():
        file = tree / path
        source = read_source(path, file.read_bytes()) if file.is_file() and not file.is_symlink() else None
        if source is None or source.obstacle:
            continue
        names = {definition.name.partition("#")[0] for definition in source.definitions}
        for name in sorted(names):
            group = source.by_name[name]
            if not any(map(source.is_broken, group)):
                yield (
                    (path, name),
                    b"\n".join(source.content[definition.start : definition.end] for definition in group),
                )


def _renames(tree: Path, older: str, newer: str) -> Iterator[tuple[str, str]]:
    for line in _git(tree, "diff", "--name-status", "-M", "-l0", "--diff-filter=R", older, newer).splitlines():
        _, old, new = line.split("\t")
        yield old, new


def _classes(then: Texts, now: Texts, renames: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    classes: dict[str, list[tuple[str, str]]] = {name: [] for name in CLASSES}
    for (path, name), text in then.items():
        here, there = now.get((path, name)), now.get((renames.get(path, ""), name))
        if here == text:
            classes["untouched"].append((path, name))
        elif here is not None and b"".join(here.split()) == b"".join(text.split()):
            classes["layout"].append((path, name))
        elif here is None and there == text:
            classes["in a renamed file"].append((path, name))
        elif here is None and there is None:
            classes["gone"].append((path, name))
    return classes


def _sample(keys: list[tuple[str, str]], size: int) -> Iterator[tuple[str, str]]:
    """Evenly over the list."""
    count = min(size, len(keys))
    return (keys[index * len(keys) // count] for index in range(count))


def _measure(
    name: str,
    total: int,
    keys: list[tuple[str, str]],
    verdicts: dict[tuple[str, str], Verdict],
    renames: dict[str, str],
) -> dict[str, int]:
    states = [verdicts[key].freshness for key in keys]
    counts = {"of": total, "judged": len(keys), "unverified": states.count("unverified")}
    if name == "in a renamed file":
        right = sum(verdicts[key].anchor.path == renames[key[0]] and verdicts[key].freshness == "moved" for key in keys)
        return {**counts, "followed": right}
    if name == "gone":
        followed = sum(state not in ("orphaned", "unverified") for state in states)
        return {**counts, "followed": followed, "orphaned": states.count("orphaned")}
    return {**counts, "flagged": sum(state in FLAGGED for state in states)}


def _show(sampled: dict[str, list[tuple[str, str]]], verdicts: dict[tuple[str, str], Verdict]) -> None:
    for name, keys in sampled.items():
        for path, symbol in keys:
            verdict = verdicts[path, symbol]
            is_as_meant = verdict.freshness == ("moved" if name == "in a renamed file" else "fresh")
            if name == "gone" or not is_as_meant:
                print(f"  {name}: {path}::{symbol}: {verdict.freshness}: {verdict_words(verdict)}")


def _print(row: dict[str, Any]) -> None:
    cells = [f"{name}: " + ", ".join(f"{value} {key}" for key, value in row[name].items()) for name in CLASSES]
    print(
        f"{row['language']} ({row['repository']}, {row['definitions']} definitions)\n  " + "\n  ".join(cells),
        flush=True,
    )


def _git(folder: Path | str, *arguments: str) -> str:
    ran = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
