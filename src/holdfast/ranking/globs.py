"""Globs of paths, without regular expressions."""

from __future__ import annotations


def glob_matches(glob: str, path: str) -> bool:
    """Whether a path fits a glob: `*` and `?` stay within a folder, `**` is any number of folders.

    A glob without a slash fits the file's name in any folder.
    """
    wanted = glob.split("/") if "/" in glob else ["**", glob]
    return _segments_match(wanted, path.split("/"))


def names_only_an_ending(glob: str) -> bool:
    """Whether a glob fits every file of a language: `*.go`, `**/*.go`."""
    return glob.removeprefix("**/").startswith("*.") and not any(sign in glob.rpartition("*.")[2] for sign in "/.*?")


def _segments_match(wanted: list[str], parts: list[str]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == "**":
        if wanted[1:] in ([], [""]):
            return True
        return any(_segments_match(wanted[1:], parts[skip:]) for skip in range(len(parts)))
    return bool(parts) and _wildcard(wanted[0], parts[0]) and _segments_match(wanted[1:], parts[1:])


def _wildcard(pattern: str, text: str) -> bool:
    """`*` and `?` against one name: the usual walk that returns to the last star."""
    at = here = mark = 0
    star = -1
    while here < len(text):
        if at < len(pattern) and pattern[at] in ("?", text[here]) and pattern[at] != "*":
            at, here = at + 1, here + 1
        elif at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, here, at + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")
