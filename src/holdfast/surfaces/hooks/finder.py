"""Finds Holdfast's compiled modules faster than the usual finder; a hook imports 70 to 120 of them.

It takes what the usual finder would take: the `.pyc` beside the source, if it was made from the current source (time
and size, PEP 552 flags 0). It leaves everything else to the usual finder.
"""

from __future__ import annotations

import os
import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

OURS = "holdfast."
FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", os.O_RDONLY)
PART = 65_536
"""Bytes read at once: more than nearly every compiled module has."""
HEAD = 16
"""Bytes before the code: magic number, flags, the source's time and size."""


class Finder:
    """For `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: object = None) -> Any:
        """Return the spec of a Holdfast module that is compiled and up to date; None for every other."""
        if not name.startswith(OURS) or not path:
            return None
        folder, last = path[0], name.rpartition(".")[2]
        return _spec(name, folder, last, "") or _spec(name, f"{folder}/{last}", "__init__", f"{folder}/{last}")

    @staticmethod
    def create_module(_spec: Any) -> None:
        """Return None, for an ordinary module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Run the module's code."""
        spec: Any = module.__spec__
        code, spec.loader_state = loads(spec.loader_state), None
        exec(code, module.__dict__)


class Outside:
    """Last in `sys.meta_path`: finds the parser if it is not beside Holdfast, as in a checkout of the source.

    A hook starts without the folders of installed packages, because finding them costs more than most hooks take.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Return the spec of the parser's module or a grammar's; None for every other."""
        if path is not None or not name.startswith("tree_sitter") or "site" in sys.modules:
            return None
        import site
        from _frozen_importlib_external import PathFinder

        site.main()
        return PathFinder.find_spec(name, path, target)


def install() -> None:
    """Put `Finder` first and `Outside` last in `sys.meta_path`; an unusual interpreter gets only `Outside`."""
    sys.meta_path.append(Outside)
    try:
        global _module_spec, _magic, _tag
        from _frozen_importlib import ModuleSpec
        from _frozen_importlib_external import MAGIC_NUMBER
    except ImportError:
        return
    _module_spec, _magic, _tag = ModuleSpec, MAGIC_NUMBER + b"\0\0\0\0", f".{sys.implementation.cache_tag}.pyc"
    sys.meta_path.insert(0, Finder)


_module_spec: Any = None
_magic = b""
_tag = ""


def _spec(name: str, folder: str, last: str, package: str) -> Any:
    source, cached = f"{folder}/{last}.py", f"{folder}/__pycache__/{last}{_tag}"
    try:
        made = os.stat(source)
        compiled = _contents(cached)
    except OSError:
        return None
    stamp = int(made.st_mtime).to_bytes(4, "little") + (made.st_size & 0xFFFFFFFF).to_bytes(4, "little")
    if compiled[:HEAD] != _magic + stamp:
        return None
    spec = _module_spec(name, Finder, origin=source, loader_state=memoryview(compiled)[HEAD:], is_package=bool(package))
    spec.has_location, spec.cached = True, cached  # otherwise importlib computes it: a tenth of an import's time
    if package:
        spec.submodule_search_locations.append(package)
    return spec


def _contents(path: str) -> bytes:
    """Return the whole file, with as few system calls as possible. Raises OSError."""
    descriptor = os.open(path, FLAGS)
    try:
        contents = part = os.read(descriptor, PART)
        while len(part) == PART:
            part = os.read(descriptor, PART)
            contents += part
    finally:
        os.close(descriptor)
    return contents
