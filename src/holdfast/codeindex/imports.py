"""Resolves imports to files of the project.

Each language has its rule (`importrules`, `packages`). A language without one uses the unique end: the only file whose
path ends in the written text. Imports that lead outside, or to more than one file, stay unresolved.
"""

from __future__ import annotations

import os

from holdfast.codeindex import importrules, packages
from holdfast.codeindex.filetree import FileTree
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from holdfast.domain.symbol import Import

    Rule = Callable[[FileTree, str, Import], Iterator[Import]]

_RULES: dict[tuple[str, ...], Rule] = {
    (".py", ".pyi"): importrules.python,
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"): importrules.javascript,
    (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".m", ".mm"): importrules.c,
    (".rs",): importrules.rust,
    (".rb", ".rake"): importrules.ruby,
    (".sh", ".bash", ".zsh", ".ksh"): importrules.shell,
    (".go",): packages.go,
    (".java", ".kt", ".kts", ".scala", ".sc", ".groovy"): packages.java,
    (".cs",): packages.csharp,
    (".php",): packages.php,
    (".swift",): packages.swift,
}
RULES: dict[str, Rule] = {suffix: rule for suffixes, rule in _RULES.items() for suffix in suffixes}


class Resolver:
    """Resolves imports among those files. `read` returns a configuration file, or nothing if it is missing."""

    def __init__(self, paths: Collection[str], read: Callable[[str], bytes]) -> None:
        self._tree = FileTree(paths, read)

    def resolve(self, path: str, imports: Sequence[Import]) -> list[Import]:
        """Return the imports that lead to other files of the project, once for each file they lead to."""
        rule = RULES.get(os.path.splitext(path)[1].lower(), importrules.unique_end)
        links: dict[tuple[str, str], Import] = {}
        for imported in imports:
            for resolved in rule(self._tree, path, imported):
                if resolved.target != path:
                    key = resolved.module, resolved.target
                    known = links.get(key)
                    names = tuple(dict.fromkeys((*known.names, *resolved.names))) if known else resolved.names
                    links[key] = replace(resolved, names=names)
        return list(links.values())
