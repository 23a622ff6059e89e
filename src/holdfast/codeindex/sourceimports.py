"""Finds a file's imports as written; `imports.py` resolves them to files of the project."""

from __future__ import annotations

from holdfast.domain.symbol import Import
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.codeindex.captures import Captures
    from holdfast.codeindex.source import ParsedSource

QUOTES = "\"'`<>"
WRITTEN_LIMIT = 2_000
"""Characters of an expression that are read, from its end: the path that an import names stands there."""
MOST_NAMES = 200
"""Names of types that a source is taken to use."""


def imports_of(source: ParsedSource) -> list[Import]:
    """Return the imports of a source; an import of a namespace has the names of types that the source uses."""
    imports = find_imports(source.matches)
    if not imports or not source.language.imports_namespaces:
        return imports
    own = {imported.own_name for imported in source.definitions}
    words = dict.fromkeys(text for text in source.tokens.texts if text[:1].isupper() and text.isidentifier())
    used = tuple(sorted(word for word in words if word not in own)[:MOST_NAMES])
    return [imported if imported.names else replace(imported, names=used) for imported in imports]


def find_imports(matches: Sequence[Captures]) -> list[Import]:
    """Return the imports among a query's matches in order, each once; names from one module are joined."""
    from holdfast.codeindex.parsing import text

    modules: dict[str, list[str]] = {}
    wanted = [captures for captures in matches if "import" in captures and "module" in captures]
    for captures in sorted(wanted, key=lambda match: match["module"][0].start_byte):
        written = "".join("".join(map(text, captures["module"])).split())
        module = _path_of(written[-WRITTEN_LIMIT:])
        names = modules.setdefault(module, [])
        names += [name for node in captures.get("imported", ()) if (name := text(node)) not in names]
    return [Import(module=module, names=tuple(names)) for module, names in modules.items() if module]


def _path_of(written: str) -> str:
    """Return the path in quotes, or the end of a composed one: `(__DIR__ . '/a.php')`; otherwise the text itself."""
    inner = written.rstrip(")")
    quote = inner[-1:]
    if quote and quote in "'\"":
        begin = inner.rfind(quote, 0, len(inner) - 1)
        path, lead = inner[begin + 1 : -1], inner[:begin].lstrip("(") if begin >= 0 else "'"
        joined = not lead or (lead[-1] == "." and "'" not in lead and '"' not in lead)
        if begin >= 0 and path and "'" not in path and '"' not in path and joined:
            return path
    return written.strip(QUOTES)
