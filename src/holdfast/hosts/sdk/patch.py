"""Reads the patch text of `apply_patch`: the files it touches, and what each loses and gains. Lean.

Form: `*** Begin Patch`, then for each file `*** Add File: p`, `*** Delete File: p` or `*** Update File: p`, the last
optionally followed by `*** Move to: q`, with lines that begin with a blank, `-` or `+`, and `@@` between hunks. Source:
the tool's grammar in the public repository openai/codex, seen 2026-11-21.
"""

from __future__ import annotations

from dataclasses import dataclass

PATCH_LIMIT = 200
"""Files of one patch that are looked at."""

_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file: the removed and the added lines, each joined by line ends."""

    path: str
    old: str = ""
    new: str = ""


def parse_patch(text: str) -> list[FilePatch]:
    """Return one entry a file, in order; a moved file has its new path. Text that is no patch gives nothing."""
    patches: list[FilePatch] = []
    path, old, new = "", list[str](), list[str]()

    def close() -> None:
        if path and len(patches) < PATCH_LIMIT:
            patches.append(FilePatch(path=path, old="\n".join(old), new="\n".join(new)))

    for line in text.splitlines():
        head = next((line[len(mark) :].strip() for mark in _HEADS if line.startswith(mark)), "")
        if head:
            close()
            path, old, new = head, [], []
        elif line.startswith("*** Move to: "):
            path = line.removeprefix("*** Move to: ").strip()
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
    close()
    return patches
