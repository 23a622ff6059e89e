"""Imports rules files: markdown that an agent program reads before it works, some of it for certain files only.

In a repository they are repository text and wait for a person. In the person's own home they are the person's words,
for every project.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.importers._shared.frontmatter import split_front, texts_of
from holdfast.importers._shared.passages import Voice, read_markdown
from holdfast.importers._shared.textfile import load_markdown
from holdfast.ports.importer import CERTAIN, LAST_RESORT, NAMED, NO, Passage, Skipped, Source

GLOB_KEYS = ("globs", "paths", "applyto", "filematchpattern")
"""Keys of front matter, in lower case, that hold the files of a rule, for all agent programs."""
AGENT_HOMES = frozenset({
    ".claude", ".codex", ".gemini", ".cursor", ".copilot", ".cline", ".roo", ".continue", ".kiro", ".junie", ".agents",
    ".devin", ".windsurf", ".config/opencode", ".config/goose", ".config/amp", ".config/devin", ".config/zed",
    ".config/github-copilot", ".config/crush", ".config/agents",
})  # fmt: skip
"""Folders of the home that directly contain agents' rules for every project. A folder further down may be a clone of
somebody's repository."""
GLOBAL_FILES = frozenset({".codeium/windsurf/memories/global_rules.md"})
"""Such files that are further down."""
EVERYTHING = frozenset({"**", "**/*", "*", "/**", "./**"})
"""Globs that match all files."""


class RulesImporter:
    """Reads one agent program's rules files, known by name or by their folder."""

    def __init__(
        self,
        name: str,
        *,
        names: tuple[str, ...] = (),
        folders: tuple[str, ...] = (),
        suffixes: tuple[str, ...] = (".md",),
        without: tuple[str, ...] = (),
        any_markdown: bool = False,
    ) -> None:
        """Make an importer.

        `names` are file names, `folders` end in a slash and hold files with one of the suffixes; lower case. `without`
        are parts of paths in those folders that hold something else. `any_markdown` accepts a file that the user names
        and no other importer knows.
        """
        self.id = f"{name}/1"
        self._names = names
        self._folders = folders
        self._suffixes = suffixes
        self._without = without
        self._any_markdown = any_markdown

    def sureness(self, source: Source) -> int:
        """Judge by the location: `CERTAIN` in one of this program's folders, `NAMED` by the file's name."""
        if self._folder(source) and source.name.endswith(self._suffixes):
            return NO if any(part in source.label.lower() for part in self._without) else CERTAIN
        if source.name in self._names:
            return NAMED
        return LAST_RESORT if self._any_markdown and source.name.endswith((".md", ".markdown", ".txt")) else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield each list item or paragraph group as a passage; the front matter's globs apply to all of them."""
        front, text = split_front(load_markdown(source))
        yield from read_markdown(text, Voice(shared=self._shared(source, front)))

    def _shared(self, source: Source, front: dict[str, Any]) -> Passage:
        prefix = self._prefix(source)
        globs = tuple(under(prefix, glob) for key in GLOB_KEYS for glob in texts_of(front.get(key)))
        own = source.ground == "home" and self._is_own(source)
        return Passage(
            section="",
            globs=tuple(dict.fromkeys(glob for glob in globs if glob not in EVERYTHING)),
            trust="person" if own else "repository",
            scope="user" if own else "project",
            path_prefix=prefix,
        )

    def _is_own(self, source: Source) -> bool:
        """Return whether a file in the home is read by its agent for every project, and belongs to no project."""
        parts = source.label.lower().removeprefix("~/").split("/")
        inside = any("/".join(parts).startswith(folder) for folder in self._folders)
        return inside or "/".join(parts[:-1]) in AGENT_HOMES or "/".join(parts) in GLOBAL_FILES

    def _folder(self, source: Source) -> str:
        low = "/" + source.label.lower()
        return next((folder for folder in self._folders if f"/{folder}" in low), "")

    def _prefix(self, source: Source) -> str:
        """Return the part of the project to which a nested rules file applies."""
        if source.ground != "project":
            return ""
        folder = self._folder(source)
        if folder:
            return source.label[: ("/" + source.label.lower()).index(f"/{folder}")].strip("/")
        above = source.label.rpartition("/")[0]
        return "/".join(part for part in above.split("/") if not part.startswith("."))


def under(prefix: str, glob: str) -> str:
    """Return the glob of a rules file in a part of the project, relative to the project's root."""
    plain = glob.removeprefix("./")
    if not prefix:
        return plain.lstrip("/")
    return f"{prefix}/{plain.lstrip('/')}" if "/" in plain else f"{prefix}/**/{plain}"
