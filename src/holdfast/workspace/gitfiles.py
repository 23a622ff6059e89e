"""Reads the few files that hold a checkout's state directly: a call to git would exceed a hook's time limit.

Formats: gitrepository-layout(5), gitworktrees, git-config(1). The `GIT_DIR` variable is ignored on purpose: only the
folder decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.errors import ProjectUnknownError
from holdfast.lean import gitsafety

PROJECT_FILE = os.path.join(".holdfast", "project.toml")

ID_LIMIT = 100
"""Characters of the longest id that a project can declare."""
DECLARED_BYTES = 65_536
"""No more of a project file is read: whoever wrote the repository chose its size."""
_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/@+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A work tree (or a bare repository) and where git keeps its state."""

    root: str
    git: str
    """The work tree's own git folder, with HEAD."""
    common: str
    """The folder that all work trees of the repository share, with config, refs and objects."""


def upwards(folder: str) -> Iterator[str]:
    """Yield the folder and all above it, nearest first."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def inode(path: str) -> str:
    """Return `device:inode` of a folder; empty if it is gone."""
    try:
        stat = os.stat(path)
    except OSError:
        return ""
    return f"{stat.st_dev}:{stat.st_ino}"


def repository_mark(common: str) -> str:
    """Return what distinguishes a git folder from a later one at the same path: inode and time of creation.

    Only `git init` and `git clone` write `description`; a freed inode is soon reused.
    """
    try:
        return f"{inode(common)}:{os.stat(os.path.join(common, 'description')).st_mtime_ns}"
    except OSError:
        return inode(common)


def find_checkout(folder: str) -> Checkout | None:
    """Return the innermost git checkout that contains the folder, or None."""
    for above in upwards(folder):
        entry = os.path.join(above, ".git")
        if os.path.isdir(entry):
            git = entry
        elif os.path.isfile(entry):
            git = _follow(entry, above)
        elif os.path.isfile(os.path.join(above, "HEAD")) and os.path.basename(above) != ".git":
            git = above  # a bare repository, if it has the rest
        else:
            continue
        if git and os.path.isfile(os.path.join(git, "HEAD")):
            common = _common(git)
            if os.path.isdir(os.path.join(common, "objects")):
                return Checkout(root=above, git=git, common=common)
    return None


def find_declared_id(folder: str, bound: str) -> tuple[str, str] | None:
    """Return the id in the nearest `.holdfast/project.toml` from the folder up to `bound`, and the file's folder.

    Raises ProjectUnknownError for a file without a usable id: another guess would split the project's memory.
    """
    for above in upwards(folder):
        file = os.path.join(above, PROJECT_FILE)
        if os.path.isfile(file):
            return _declared_id(file), above
        if above == bound:
            break
    return None


def read_head(checkout: Checkout) -> tuple[str, str]:
    """Return the checked-out branch and commit; no branch if HEAD is detached, no commit before the first one."""
    head = _read(os.path.join(checkout.git, "HEAD")).strip()
    if not head.startswith(b"ref:"):
        return "", parse_commit(head)
    ref = head[4:].strip()
    name = os.fsdecode(ref)
    return name.removeprefix("refs/heads/"), _resolve(checkout, name)


def read_remote(checkout: Checkout) -> str:
    """Return the URL of `origin`, or of the first remote without an origin; as written, or empty."""
    urls: dict[str, str] = {}
    section = ""
    for line in _read(os.path.join(checkout.common, "config")).decode("utf-8", "replace").splitlines():
        line = line.strip()
        if line.startswith("["):
            section = _remote_name(line)
        elif section and line[:3].lower() == "url" and line[3:].lstrip().startswith("="):
            urls.setdefault(section, line.partition("=")[2].strip().strip('"'))
    return urls.get("origin") or next(iter(urls.values()), "")


def is_shallow(checkout: Checkout) -> bool:
    """Return whether the clone was cut off, so that its oldest commit is not the root."""
    return os.path.exists(os.path.join(checkout.common, "shallow"))


def may_filter(checkout: Checkout) -> bool:
    """Return whether the repository's own configuration may name filters, which git would start."""
    files = (os.path.join(checkout.common, "config"), os.path.join(checkout.git, "config.worktree"))
    return any(gitsafety.may_filter(_read(file)) for file in files)


def uses_reftable(checkout: Checkout) -> bool:
    """Return whether refs are in git's binary format, which only git reads; HEAD then holds a placeholder."""
    return os.path.isdir(os.path.join(checkout.common, "reftable"))


def parse_commit(text: bytes) -> str:
    """Return a SHA-1 or SHA-256 object id, or empty."""
    return text.decode() if len(text) in (40, 64) and not text.strip(b"0123456789abcdef") else ""


def _follow(entry: str, folder: str) -> str:
    """Return the git folder that a `.git` file of a work tree or submodule names; empty if it is gone."""
    text = os.fsdecode(_read(entry).strip())
    if not text.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(folder, text[len("gitdir:") :].strip()))


def _common(git: str) -> str:
    named = os.fsdecode(_read(os.path.join(git, "commondir")).strip())
    return os.path.realpath(os.path.join(git, named)) if named else git


def _declared_id(file: str) -> str:
    for line in _read(file, DECLARED_BYTES).decode("utf-8", "replace").splitlines():
        key, equals, value = line.partition("=")
        if key.strip().startswith("["):
            break  # only the top-level id is ours
        if equals and key.strip().strip("\"'") == "id":
            declared = _unquoted(value.strip())
            if 0 < len(declared) <= ID_LIMIT and _ID_CHARACTERS.issuperset(declared):
                return declared
    raise ProjectUnknownError(f"{file} has no usable id", hint=f'write id = "your-project" into {file}')


def _unquoted(value: str) -> str:
    quote = value[:1]
    return value[1:].partition(quote)[0] if quote in ('"', "'") and quote else ""


def _remote_name(line: str) -> str:
    """Return `origin` for a line like `[remote "origin"]`; empty for other sections."""
    word, _, rest = line[1:].partition(" ")
    return rest.strip().rpartition('"')[0].lstrip('"') if word.lower() == "remote" else ""


def _resolve(checkout: Checkout, name: str) -> str:
    for folder in (checkout.git, checkout.common):
        commit = parse_commit(_read(os.path.join(folder, *name.split("/"))).strip())
        if commit:
            return commit
    packed = _read(os.path.join(checkout.common, "packed-refs"))
    at = packed.find(b" " + os.fsencode(name) + b"\n")
    return parse_commit(packed[packed.rfind(b"\n", 0, at) + 1 : at]) if at > 0 else ""


def _read(file: str, limit: int = -1) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(limit)
    except (OSError, ValueError):
        return b""
