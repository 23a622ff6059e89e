"""Rules files: markdown that an agent program reads before it works, some of it for certain files only.

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
"""Keys of front matter that hold the files a rule is for, in lower case, over all agent programs."""
AGENT_HOMES = frozenset({
    ".claude", ".codex", ".gemini", ".cursor", ".copilot", ".cline", ".roo", ".continue", ".kiro", ".junie", ".agents",
    ".devin", ".windsurf", ".config/opencode", ".config/goose", ".config/amp", ".config/devin", ".config/zed",
    ".config/github-copilot", ".config/crush", ".config/agents",
})  # fmt: skip
"""Folders of the home in which agents keep what holds for every project, right in them: a folder further down may be
a clone of somebody's."""
GLOBAL_FILES = frozenset({".codeium/windsurf/memories/global_rules.md"})
"""The same, deeper down."""
EVERYTHING = frozenset({"**", "**/*", "*", "/**", "./**"})
"""Globs that say nothing."""


class RulesImporter:
    """Reads one agent program's rules files, known by name or by the folder they are in."""

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
        """`names` are file names, `folders` end in a slash and hold files with one of the suffixes; lower case.

        `without` are parts of paths in those folders that hold something else. `any_markdown` takes a file that
        somebody points at and nothing else knows.
        """
        self.id = f"{name}/1"
        self._names = names
        self._folders = folders
        self._suffixes = suffixes
        self._without = without
        self._any_markdown = any_markdown

    def sureness(self, source: Source) -> int:
        """Judge by its place: `CERTAIN` in a folder that is this program's, `NAMED` by its name."""
        if self._folder(source) and source.name.endswith(self._suffixes):
            return NO if any(part in source.label.lower() for part in self._without) else CERTAIN
        if source.name in self._names:
            return NAMED
        return LAST_RESORT if self._any_markdown and source.name.endswith((".md", ".markdown", ".txt")) else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Each list item or paragraph group as a passage; globs of the front matter hold for all of them."""
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
        """Whether a file in the home is one that its agent reads for every project, not one of another project."""
        parts = source.label.lower().removeprefix("~/").split("/")
        inside = any("/".join(parts).startswith(folder) for folder in self._folders)
        return inside or "/".join(parts[:-1]) in AGENT_HOMES or "/".join(parts) in GLOBAL_FILES

    def _folder(self, source: Source) -> str:
        low = "/" + source.label.lower()
        return next((folder for folder in self._folders if f"/{folder}" in low), "")

    def _prefix(self, source: Source) -> str:
        """The part of the project that a nested rules file is for."""
        if source.ground != "project":
            return ""
        folder = self._folder(source)
        if folder:
            return source.label[: ("/" + source.label.lower()).index(f"/{folder}")].strip("/")
        above = source.label.rpartition("/")[0]
        return "/".join(part for part in above.split("/") if not part.startswith("."))


def under(prefix: str, glob: str) -> str:
    """The glob of a rules file in a part of the project, as seen from the project's root."""
    plain = glob.removeprefix("./")
    if not prefix:
        return plain.lstrip("/")
    return f"{prefix}/{plain.lstrip('/')}" if "/" in plain else f"{prefix}/**/{plain}"
