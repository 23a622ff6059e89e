"""CODEOWNERS: who owns a path, by the rules that GitHub documents.

A line is a pattern and its owners. Of all patterns that match a path, the last one counts; without owners it says that
nobody owns the path. Patterns are those of `.gitignore`, save that `!`, `[…]` and an escaped `#` do not exist, and that
`docs/*` does not reach below the folder's own files. Lines that break these rules are skipped. Paths keep their case;
owners do not.

Source: GitHub's documentation, "About code owners".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast.text.globs import fits, glob_matches

_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedPattern:
    """One line: a pattern, and the owners of what it matches."""

    glob: str
    owners: tuple[str, ...]
    """`ada`, `acme/payments` or `ada@acme.org`, in lower case."""

    def matches(self, path: str) -> bool:
        """Return whether a path relative to the root, with forward slashes, fits the pattern."""
        if self.glob.endswith("/"):  # only what is in such a folder, not a file of that name
            return fits(path.rpartition("/")[0], self.glob)
        if self.glob == "/*":
            return "/" not in path
        if self.glob.endswith("/*"):
            return glob_matches(self.glob.removeprefix("/"), path)
        return fits(path, self.glob)


@lru_cache(maxsize=64)
def parse(text: str) -> tuple[OwnedPattern, ...]:
    """Return the valid lines of a CODEOWNERS file, in order."""
    return tuple(_iter_patterns(text))


def owners_of(text: str, path: str) -> tuple[str, ...]:
    """Return the owners of a path relative to the root; empty if nobody owns it."""
    return next((pattern.owners for pattern in reversed(parse(text)) if pattern.matches(path)), ())


def _iter_patterns(text: str) -> Iterator[OwnedPattern]:
    for line in text.splitlines():
        words = _WORD.findall(_COMMENT.sub("", line))
        if not words:
            continue
        glob, *owners = words
        if glob.startswith(("!", "\\#")) or "[" in glob or "]" in glob or not all(map(_is_owner, owners)):
            continue
        names = tuple(owner.removeprefix("@").lower() for owner in owners)
        yield OwnedPattern(glob=_ESCAPED.sub(r"\1", glob), owners=names)


def _is_owner(word: str) -> bool:
    return (word.startswith("@") and len(word) > 1) or "@" in word[1:-1]
