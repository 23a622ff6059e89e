"""Finds and loads plug-ins: built-in ones by file name, other packages by entry point.

Every plug-in module or package has a function `make(options)`, which returns an object of its port. No other module
loads plug-ins.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from holdfast.errors import PluginNotFoundError

KINDS = ("hosts", "detectors", "embedders", "models", "stores", "importers")
SHARED = "sdk"
"""The package that the plug-ins of a room build on, which is none itself."""
HOSTS_PACKAGE = "holdfast-hosts"
"""The distribution with the hosts below."""
HOSTS_ELSEWHERE = {
    "aider": ".aider.conf.yml", "amp": ".config/amp", "antigravity": ".gemini/antigravity", "claude-desktop": "",
    "devin-cli": ".config/devin", "goose": ".config/goose", "jetbrains": "", "junie": ".junie", "kiro": ".kiro",
    "openhands": "", "pi": "", "roo": "", "specstory": "", "swe-agent": "", "windsurf": ".codeium/windsurf",
    "zed": ".config/zed",
}  # fmt: skip
"""Hosts of `HOSTS_PACKAGE`, each with the path under the home that shows that the program is there; "" for none."""


EXTRAS = {("stores", "postgresql"): "server"}
"""The extra of this package that brings what a built-in plug-in imports."""


def names(kind: str) -> list[str]:
    """Return the names of all plug-ins of a kind, built-in and installed, sorted as people type them."""
    return sorted({*builtin_names(kind), *_entry_points(kind)}, key=lambda name: name.replace("_", "-"))


@cache
def builtin_names(kind: str) -> tuple[str, ...]:
    """Return the built-ins of a kind: its room's modules and packages, without `SHARED` and a leading underscore."""
    if kind not in KINDS:
        raise PluginNotFoundError(f"no plug-ins of kind {kind!r}", hint=f"choose from {', '.join(KINDS)}")
    room = os.path.join(os.path.dirname(__file__), kind)
    modules = {
        entry.removesuffix(".py")
        for entry in os.listdir(room)  # a folder without `__init__` is what another version left behind
        if entry.endswith(".py") or os.path.isfile(os.path.join(room, entry, "__init__.py"))
    }
    return tuple(sorted(name for name in modules if not name.startswith("_") and name != SHARED))


def load(kind: str, name: str, options: Mapping[str, str] | None = None) -> Any:
    """Make the plug-in of that kind and name. A built-in is found without looking up entry points.

    Raises PluginNotFoundError if there is none.
    """
    module_name = name.replace("-", "_")
    if module_name in builtin_names(kind):
        return _import(kind, module_name).make(options or {})
    outside = _entry_points(kind)
    if name not in outside and kind == "hosts" and name in HOSTS_ELSEWHERE:
        raise PluginNotFoundError(f"{name} needs the package {HOSTS_PACKAGE}", hint=f"pip install {HOSTS_PACKAGE}")
    if name not in outside:
        raise PluginNotFoundError(f"no {kind[:-1]} named {name!r}", hint=_near(kind, name))
    return outside[name].load()(options or {})


def load_backend(name: str, options: Mapping[str, str]) -> Any:
    """Make the backend of a team server, not opened yet, of the store plug-in of that name: its `make_backend`.

    Raises PluginNotFoundError for a store that serves no team.
    """
    make = None
    if name in builtin_names("stores"):
        make = getattr(_import("stores", name), "make_backend", None)
    if make is None:
        raise PluginNotFoundError(f"the store {name!r} cannot serve a team", hint="use sqlite:// or postgresql://")
    return make(options)


def _import(kind: str, name: str) -> Any:
    """Import a built-in plug-in. Raises PluginNotFoundError if it needs a package that is not installed."""
    try:
        return import_module(f"holdfast.{kind}.{name}")
    except ModuleNotFoundError as exc:
        if exc.name is None or exc.name.startswith("holdfast"):
            raise
        extra = EXTRAS.get((kind, name), "")
        hint = f"pip install 'holdfast-memory[{extra}]'" if extra else f"pip install {exc.name}"
        raise PluginNotFoundError(f"{name} needs the package {exc.name}, which is not installed", hint=hint) from exc


def load_index(options: Mapping[str, str]) -> Any:
    """Make the code index's store, not opened yet. It is always a SQLite file, whatever store holds the lessons."""
    return import_module("holdfast.stores.sqlite.indexfile").make_index(options)


def missing_hosts(home: str) -> list[str]:
    """Return the hosts that are on this machine but need `HOSTS_PACKAGE`, which is not installed."""
    there = [name for name, path in HOSTS_ELSEWHERE.items() if path and os.path.exists(os.path.join(home, path))]
    installed = _entry_points("hosts") if there else {}
    return [name for name in there if name not in installed]


def _near(kind: str, name: str) -> str:
    """Return a hint with the names similar to the one that was typed, or all names."""
    from difflib import get_close_matches

    elsewhere = HOSTS_ELSEWHERE if kind == "hosts" else ()
    known = sorted({*elsewhere, *(name.replace("_", "-") for name in names(kind))})
    # A typed prefix counts as similar, however long the rest of the name is; get_close_matches would miss it.
    near = [known for known in known if name and known.startswith(name)] or get_close_matches(name, known, 3)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"


def _entry_points(kind: str) -> dict[str, Any]:
    from importlib.metadata import entry_points  # the import takes 60 ms

    return {point.name: point for point in entry_points(group=f"holdfast.{kind}")}
