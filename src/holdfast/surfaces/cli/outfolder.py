"""Writes an export of many files: a whole folder appears at once, or nothing changes.

A folder that an export wrote holds a list of its files, so that the next export can tell them from files of others, and
replaces the folder only if there are none.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator

from holdfast.errors import HoldfastError, InvalidValueError

LIST = ".holdfast-export.json"
"""The list of the files that the export wrote."""
MOST_TOLD = 5


def write_folder(folder: str, files: Iterable[tuple[str, str | bytes]], form: str) -> int:
    """Write the files, by relative path with forward slashes, as the folder's only content; return how many.

    They are written beside the folder first, and then take its place. Raises InvalidValueError if the folder holds
    files that no export of this form wrote, HoldfastError if it cannot be written.
    """
    whole = os.path.abspath(folder)
    check_folder(whole, form)
    try:
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        fresh = tempfile.mkdtemp(prefix=f".{os.path.basename(whole)}-", dir=os.path.dirname(whole))
    except OSError as exc:
        raise _unwritable(folder, exc) from exc
    try:
        count = _write_all(fresh, files, form)
        os.chmod(fresh, 0o777 & ~_umask())
        _take_place(fresh, whole)
    except OSError as exc:
        raise _unwritable(folder, exc) from exc
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return count


def check_folder(folder: str, form: str) -> None:
    """Raise InvalidValueError if the folder is no folder, or holds files that no export of this form wrote."""
    if os.path.islink(folder) or (os.path.lexists(folder) and not os.path.isdir(folder)):
        raise InvalidValueError(f"{folder} is not a folder", hint="name a new folder")
    if os.path.realpath(os.getcwd()).startswith(os.path.realpath(folder).rstrip(os.sep) + os.sep) or (
        os.path.exists(folder) and os.path.samefile(folder, os.getcwd())
    ):
        raise InvalidValueError("the export would replace the folder you are in", hint="name a folder inside it")
    known = _listed(folder, form)
    foreign = [path for path in _paths(folder) if path not in known]
    if foreign:
        more = f" and {len(foreign) - MOST_TOLD} more" if len(foreign) > MOST_TOLD else ""
        raise InvalidValueError(
            f"{folder} holds files that this export did not write: {', '.join(foreign[:MOST_TOLD])}{more}",
            hint="name a new folder, or move them away",
        )


def _write_all(fresh: str, files: Iterable[tuple[str, str | bytes]], form: str) -> int:
    written: list[str] = []
    for path, content in files:
        target = os.path.join(fresh, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as stream:
            stream.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
        written.append(path)
    listed = json.dumps({"format": form, "files": sorted(written)}, indent=0, ensure_ascii=False) + "\n"
    with open(os.path.join(fresh, LIST), "w", encoding="utf-8", errors="replace", newline="\n") as stream:
        stream.write(listed)
    return len(written)


def _take_place(fresh: str, folder: str) -> None:
    """Let the fresh folder take the other's place; if that fails, the other one is there again."""
    if not os.path.lexists(folder):
        os.rename(fresh, folder)
        return
    former = tempfile.mkdtemp(prefix=f".{os.path.basename(folder)}-", dir=os.path.dirname(folder))
    os.rename(folder, os.path.join(former, "former"))
    try:
        os.rename(fresh, folder)
    except OSError:
        os.rename(os.path.join(former, "former"), folder)
        raise
    finally:
        shutil.rmtree(former, ignore_errors=True)


def _listed(folder: str, form: str) -> frozenset[str]:
    """Return the files that the last export of this form wrote, and its list; empty if there was none."""
    try:
        with open(os.path.join(folder, LIST), encoding="utf-8") as stream:
            listed = json.load(stream)
        if listed["format"] == form:
            return frozenset((LIST, *map(str, listed["files"])))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return frozenset()


def _paths(folder: str) -> Iterator[str]:
    for inner, folders, names in os.walk(folder):
        folders.sort()
        below = os.path.relpath(inner, folder)
        for name in sorted((*names, *(entry for entry in folders if os.path.islink(os.path.join(inner, entry))))):
            yield (name if below == "." else f"{below}/{name}").replace(os.sep, "/")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(folder: str, exc: OSError) -> HoldfastError:
    return HoldfastError(f"{folder} cannot be written: {exc.strerror or exc}", hint="check its folder's rights")
