"""The one door to plug-ins: built-ins by file name, other people's packages by entry point.

Every plug-in module or package exposes `make(options)`, which returns an object of its port.
"""

from __future__ import annotations

import os

from holdfast.errors import PluginNotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KINDS = ("hosts", "detectors", "embedders", "models", "stores", "importers")


def names(kind: str) -> list[str]:
    """The names of all plug-ins of a kind, built-in and installed, sorted."""
    return sorted({*builtin_names(kind), *_entry_points(kind)})


def builtin_names(kind: str) -> list[str]:
    """The built-ins of a kind: its room's modules and packages whose name has no leading underscore."""
    if kind not in KINDS:
        raise PluginNotFoundError(f"no plug-ins of kind {kind!r}", hint=f"one of {', '.join(KINDS)}")
    room = os.path.join(os.path.dirname(__file__), kind)
    modules = (entry.removesuffix(".py") for entry in os.listdir(room) if entry.endswith(".py") or "." not in entry)
    return sorted(name for name in modules if not name.startswith("_"))


def load(kind: str, name: str, options: Mapping[str, str] | None = None) -> Any:
    """Make the plug-in of that kind and name; a built-in never costs the look-up of entry points.

    Raises PluginNotFoundError when there is none.
    """
    module_name = name.replace("-", "_")
    if module_name in builtin_names(kind):
        # not importlib.import_module: the package `importlib` costs a hook 0.4 ms, the statement's own function nothing
        return __import__(f"holdfast.{kind}.{module_name}", fromlist=["make"]).make(options or {})
    outside = _entry_points(kind)
    if name not in outside:
        raise PluginNotFoundError(f"no {kind[:-1]} named {name!r}", hint=_near(kind, name))
    return outside[name].load()(options or {})


def load_index(options: Mapping[str, str]) -> Any:
    """Make the code index's store, not opened yet: always a file of ours, whatever keeps the lessons."""
    return __import__("holdfast.stores.sqlite.indexfile", fromlist=["make_index"]).make_index(options)


def _near(kind: str, name: str) -> str:
    """A hint: the names that are like the one that was typed, or all names."""
    from difflib import get_close_matches

    known = [known.replace("_", "-") for known in names(kind)]
    # Who types the beginning of a name means it, however long the rest is.
    near = [known for known in known if name and known.startswith(name)] or get_close_matches(name, known, 3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"


def _entry_points(kind: str) -> dict[str, Any]:
    from importlib.metadata import entry_points  # 60 ms: only when something outside is asked for

    return {point.name: point for point in entry_points(group=f"holdfast.{kind}")}
