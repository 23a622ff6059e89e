"""Importer `rules`: markdown that an agent program reads before it works, some of it for certain files only.

In a repository they are repository text and wait for a person. In the person's own home they are the person's words,
for every project.

Source: agents.md (the open format), the programs' documentation and source, September 2026. Checked against files in
wshobson/agents (AGENTS.md, Cursor), cline/cline, PatrickJS/awesome-cursorrules and steipete/agent-rules; the others
were not checked against real files. Cursor's front matter is often no YAML (`globs: **/*.ts, *.js`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.importers.sdk.markdown import Voice, read_markdown
from holdfast.importers.sdk.texts import load_markdown, split_front, texts_of
from holdfast.ports.plugins import CERTAIN, LAST_RESORT, NAMED, NO, Passage, Skipped, Source

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


class _Program(NamedTuple):
    """Where an agent program has its rules: file names, and folders (with a slash at the end), in lower case."""

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = (".md",)
    """Of files in the folders."""
    without: tuple[str, ...] = ()
    """Parts of paths in the folders that hold something else."""

    def folder(self, source: Source) -> str:
        """Return the folder of this program that the file is in; empty for none."""
        low = "/" + source.label.lower()
        return next((folder for folder in self.folders if f"/{folder}" in low), "")

    def sureness(self, source: Source) -> int:
        """Return `CERTAIN` in one of its folders, `NAMED` by the file's name, otherwise `NO`."""
        if self.folder(source) and source.name.endswith(self.suffixes):
            return NO if any(part in source.label.lower() for part in self.without) else CERTAIN
        return NAMED if source.name in self.names else NO


MODES = ("", "-code", "-architect", "-ask", "-debug")
PROGRAMS = (
    # several programs
    _Program(
        ("agents.md", "agents.override.md", "agent.md", "gemini.md", "conventions.md", ".goosehints", ".rules")
    ),
    _Program(("claude.md", "claude.local.md"), (".claude/rules/",)),
    # Cline: hooks and workflows in the same folder are no rules
    _Program(
        (".clinerules",), (".clinerules/", ".cline/rules/", "documents/cline/rules/"), (".md", ".txt"),
        without=("/hooks/", "/workflows/"),
    ),
    _Program((".continuerules",), (".continue/rules/",)),
    # GitHub Copilot
    _Program(
        ("copilot-instructions.md",), (".github/instructions/", ".copilot/instructions/"), (".instructions.md",)
    ),
    _Program((".cursorrules",), (".cursor/rules/",), (".mdc", ".md")),
    # Junie and Kiro
    _Program(folders=(".junie/",)),
    _Program(folders=(".kiro/steering/",)),
    # Roo Code
    _Program(
        tuple(f".roorules{mode}" for mode in MODES), tuple(f".roo/rules{mode}/" for mode in MODES), (".md", ".txt")
    ),
    # Windsurf
    _Program((".windsurfrules", "global_rules.md"), (".windsurf/rules/", ".devin/rules/")),
)  # fmt: skip
"""The first of those that are surest about a file reads it."""


class RulesImporter:
    """Reads one rules file of any agent program."""

    id = "rules/1"

    def sureness(self, source: Source) -> int:
        """Judge by the location and the name; any text may be one where somebody points at it."""
        sure = _program(source).sureness(source)
        return sure or (LAST_RESORT if source.name.endswith((".md", ".markdown", ".txt")) else NO)

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield each list item or paragraph group as a passage; the front matter's globs apply to all of them."""
        front, text = split_front(load_markdown(source))
        yield from read_markdown(text, Voice(shared=_shared(source, front)))


def make(options: Mapping[str, str]) -> RulesImporter:
    """Return the importer; it has no options."""
    return RulesImporter()


def _program(source: Source) -> _Program:
    return max(PROGRAMS, key=lambda program: program.sureness(source))


def _shared(source: Source, front: dict[str, Any]) -> Passage:
    program = _program(source)
    prefix = _prefix(source, program)
    globs = tuple(under(prefix, glob) for key in GLOB_KEYS for glob in texts_of(front.get(key)))
    own = source.ground == "home" and _is_own(source, program)
    return Passage(
        section="",
        globs=tuple(dict.fromkeys(glob for glob in globs if glob not in EVERYTHING)),
        trust="person" if own else "repository",
        scope="user" if own else "project",
        path_prefix=prefix,
    )


def _is_own(source: Source, program: _Program) -> bool:
    """Return whether a file in the home is read by its agent for every project, and belongs to no project."""
    path = source.label.lower().removeprefix("~/")
    return path.startswith(program.folders) or path.rpartition("/")[0] in AGENT_HOMES or path in GLOBAL_FILES


def _prefix(source: Source, program: _Program) -> str:
    """Return the part of the project to which a nested rules file applies."""
    if source.ground != "project":
        return ""
    folder = program.folder(source)
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
