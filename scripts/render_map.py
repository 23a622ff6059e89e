"""Draws the rooms of src/holdfast from its imports: docs/reference/rooms.svg and rooms.md.

python scripts/render_map.py            writes the files
python scripts/render_map.py --check    exit 1 when they are not up to date

Floors are the layers of the import contracts in pyproject.toml. An arrow is drawn only where no longer way says the
same: a room that reaches another through a third one has no arrow of its own. The table names every import. Sizes are
those of the day on which the page was written; `--check` does not compare them.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from html import escape
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "holdfast"
PICTURE, PAGE = ROOT / "docs" / "reference" / "rooms.svg", ROOT / "docs" / "reference" / "rooms.md"
FACE = frozenset({"__init__", "__main__", "_version"})

WIDTH, BOX_HEIGHT, FLOOR_HEIGHT, LETTER, MARGIN, GAP, STAGGER = 1180, 26, 64, 7.4, 20, 18, 120
HEAD = """# Rooms

Made from the imports of `src/holdfast` by `scripts/render_map.py` (`make map`); edit those, not this file. Every arrow
points down; `make contracts` checks it. A room's own `__init__.py` says what it may touch and where to begin.

![The rooms and their arrows](rooms.svg)

| room | what it is for | imports |
|---|---|---|
"""
SIZES = """
## Sizes

Lines of Python, and files, when this page was last written.

| room | lines | files |
|---|---|---|
"""


def main() -> int:
    """1 with `--check` when a file differs from what the imports say."""
    texts = render()
    if "--check" in sys.argv[1:]:
        stale = [path for path, text in texts.items() if not is_current(path, text)]
        print("\n".join(f"{path.relative_to(ROOT)} is out of date: make map" for path in stale) or "map: fine")
        return min(1, len(stale))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


def is_current(path: Path, text: str) -> bool:
    """Return whether the file says the same, sizes aside."""
    return path.exists() and path.read_text("utf-8").partition(SIZES)[0] == text.partition(SIZES)[0]


def render() -> dict[Path, str]:
    """The text of each file that this script writes."""
    floors, imports = load_floors(), load_imports()
    rooms = list(chain.from_iterable(floors))
    rows = [f"| `{room}` | {purpose(room)} | {', '.join(sorted(imports[room])) or 'nothing'} |" for room in rooms]
    return {
        PAGE: HEAD + "\n".join(rows) + "\n" + SIZES + sizes(rooms),
        PICTURE: draw(floors, without_shortcuts(imports)),
    }


def sizes(rooms: list[str]) -> str:
    """The rows of the table of sizes, with a sum."""
    rows = []
    for room in rooms:
        files = [SOURCE / f"{room}.py"] if not (SOURCE / room).is_dir() else sorted((SOURCE / room).rglob("*.py"))
        rows.append((f"`{room}`", sum(file.read_bytes().count(b"\n") for file in files), len(files)))
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return "".join(f"| {name} | {lines:,} | {files} |\n" for name, lines, files in rows)


def load_floors() -> list[list[str]]:
    """The layers of the import contracts, highest first, each with its rooms."""
    with open(ROOT / "pyproject.toml", "rb") as stream:
        contracts = tomllib.load(stream)["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in layers]


def load_imports() -> dict[str, set[str]]:
    """Each room and the rooms that its modules import, also late and for type checkers alone."""
    imports: dict[str, set[str]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room not in FACE:
            targets = imports.setdefault(room, set())
            targets.update(_imported(ast.parse(file.read_text("utf-8"))) - FACE - {room})
    return imports


def _imported(tree: ast.AST) -> set[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "holdfast":
            names += [f"holdfast.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
    return {name.split(".")[1] for name in names if name.startswith("holdfast.")}


def purpose(room: str) -> str:
    """The first sentence of what a room says of itself."""
    file = SOURCE / room / "__init__.py"
    docstring = ast.get_docstring(ast.parse((file if file.exists() else SOURCE / f"{room}.py").read_text("utf-8")))
    return " ".join((docstring or "").split("\n\n")[0].split())


def without_shortcuts(imports: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that no longer way implies (the transitive reduction)."""
    below: dict[str, set[str]] = {}

    def reach(room: str) -> set[str]:
        if room not in below:
            below[room] = set()  # rooms in a circle, which the contracts refuse, are still drawn
            below[room] = set().union(*({target} | reach(target) for target in imports.get(room, ())))
        return below[room]

    return {
        room: {target for target in targets if not any(target in reach(other) for other in targets - {target})}
        for room, targets in imports.items()
    }


def draw(floors: list[list[str]], arrows: dict[str, set[str]]) -> str:
    """The picture: a floor for each layer, a box for each room, arrows behind the boxes."""
    boxes: dict[str, tuple[float, float, float]] = {}  # room: middle, top, width
    for level, floor in enumerate(floors):
        widths = [len(room) * LETTER + MARGIN for room in floor]
        left = (WIDTH - sum(widths) - GAP * (len(floor) - 1)) / 2
        left += (level % 3 - 1) * STAGGER if len(floor) < 4 else 0  # else long arrows hide behind each other
        for room, width in zip(floor, widths, strict=True):
            boxes[room] = (left + width / 2, MARGIN + level * FLOOR_HEIGHT, width)
            left += width + GAP
    lines = [_arrow(boxes[room], boxes[target]) for room in boxes for target in sorted(arrows.get(room, ()))]
    height = MARGIN * 2 + (len(floors) - 1) * FLOOR_HEIGHT + BOX_HEIGHT
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
        ' font-family="monospace" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<g fill="none" stroke="#9aa5b1">', *lines, "</g>",
        *(_box(room, *place) for room, place in boxes.items()),
        "</svg>\n",
    ])  # fmt: skip


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    (x, top, _), (to_x, to_top, _) = start, end
    y, to_y = top + BOX_HEIGHT, to_top
    bend = (to_y - y) / 2
    return f'<path d="M{x:.0f} {y:.0f} C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"/>'


def _box(room: str, middle: float, top: float, width: float) -> str:
    return (
        f'<g><title>{escape(purpose(room))}</title><rect x="{middle - width / 2:.0f}" y="{top:.0f}" width="{width:.0f}"'
        f' height="{BOX_HEIGHT}" rx="4" fill="#eef4fa" stroke="#33506b"/>'
        f'<text x="{middle:.0f}" y="{top + 17:.0f}" text-anchor="middle">{escape(room)}</text></g>'
    )


if __name__ == "__main__":
    sys.exit(main())
