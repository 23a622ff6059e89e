"""Golden outlines: `tests/golden/codeindex/<language>/<case>/source.<ext>` and what is found in it, compared whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.codeindex.source import outline
from holdfast.lean.plain import to_plain

ROOT = Path(__file__).parents[1] / "golden" / "codeindex"
LEFT_OUT = ("path", "signature_hash", "body_hash", "start_byte", "end_byte")
"""Hashes are tested by what changes them; bytes follow from the lines."""


def cases() -> list[Path]:
    """The folders of all cases, of every language."""
    return sorted(path.parent for path in ROOT.glob("*/*/source*"))


def actual(case: Path) -> dict[str, Any]:
    """The outline of the case's source, as plain values."""
    source = next(case.glob("source*"))
    members = case.name == "members"
    outlined: dict[str, Any] = to_plain(outline(source.name, source.read_bytes(), members=members))
    symbols = [_shown(symbol) for symbol in outlined.get("symbols", ())]
    return {"language": outlined["language"], "note": outlined.get("note", ""), "symbols": symbols}


def expected(case: Path) -> dict[str, Any]:
    """The reviewed outline."""
    reviewed: dict[str, Any] = json.loads((case / "expected.json").read_text("utf-8"))
    return reviewed


def refresh(case: Path) -> bool:
    """Write what is found now; whether that is news."""
    file = case / "expected.json"
    text = render(actual(case))
    if file.exists() and file.read_text("utf-8") == text:
        return False
    file.write_text(text, "utf-8")
    return True


def render(outlined: dict[str, Any]) -> str:
    """One line a symbol: differences read well."""
    rows = [json.dumps(row, ensure_ascii=False) for row in outlined["symbols"]]
    symbols = ' "symbols": [\n  ' + ",\n  ".join(rows) + "\n ]" if rows else ' "symbols": []'
    head = (f' "{name}": {json.dumps(outlined[name])}' for name in ("language", "note"))
    return "{\n" + ",\n".join((*head, symbols)) + "\n}\n"


def _shown(symbol: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in symbol.items() if name not in LEFT_OUT}
