"""What a file imports, as written: `imports.py` resolves it to files of the project."""

from __future__ import annotations

import re

from holdfast.domain.symbol import Import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.codeindex.captures import Captures

QUOTES = "\"'`<>"
_END = re.compile(r"""\(*(?:[^'"]*\.)?(['"])([^'"]+)\1\)*""")
"""A path in quotes, or the end of one that is put together: `(__DIR__ . '/a.php')`."""


def find_imports(matches: Sequence[Captures]) -> list[Import]:
    """The imports among a query's matches in order, each once; names taken from one module are put together."""
    from holdfast.codeindex.parsing import text

    found: dict[str, list[str]] = {}
    wanted = [captures for captures in matches if "import" in captures and "module" in captures]
    for captures in sorted(wanted, key=lambda one: one["module"][0].start_byte):
        written = "".join("".join(map(text, captures["module"])).split())
        end = _END.fullmatch(written)
        module = end[2] if end else written.strip(QUOTES)
        names = found.setdefault(module, [])
        names += [name for node in captures.get("imported", ()) if (name := text(node)) not in names]
    return [Import(module=module, names=tuple(names)) for module, names in found.items() if module]
