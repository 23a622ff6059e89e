"""Decides which files are a repository's own text, which the repository's author wrote.

A file counts as the user's own only if git can tell that the repository does not contain it: it is in a work tree, not
reached through a link, and not tracked. Paths are compared without regard to case, as some file systems do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from holdfast.workspace.gitfiles import find_checkout
from holdfast.workspace.gitrun import Git

TRACKED = "git tracks it"
LINKED = "it is reached through a link in a repository"
NO_GIT = "it is in a folder without git"
UNTOLD = "git does not tell whether it tracks it"
TIMEOUT_S = 1.0
"""Seconds for one question to git, times its timeout scale."""
ASKED = 200
"""Paths of one question."""


def repository_texts(git: Git, paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return, for each path that may be a repository's text, why, and the work tree's root (or an empty string)."""
    texts: dict[str, tuple[str, str]] = {}
    in_tree: dict[str, dict[str, str]] = {}
    for path in paths:
        root = _work_tree(os.path.dirname(os.path.abspath(path)))
        inner = os.path.relpath(os.path.abspath(path), root) if root else ""
        if not root:
            texts[path] = (NO_GIT, "")
        elif os.path.realpath(path) != os.path.join(os.path.realpath(root), inner):
            texts[path] = (LINKED, root)
        else:
            in_tree.setdefault(root, {})[path] = inner
    for root, inner_paths in in_tree.items():
        for some in _portions(list(inner_paths)):
            texts.update(_ask(git, root, {path: inner_paths[path] for path in some}))
    return texts


def _work_tree(folder: str) -> str:
    """Return the root of the folder's work tree; empty if there is none.

    A folder that looks like a bare repository is skipped: any repository can contain such a folder.
    """
    checkout = find_checkout(folder)
    while checkout is not None and checkout.git == checkout.root:
        above = os.path.dirname(checkout.root)
        checkout = find_checkout(above) if above != checkout.root else None
    return checkout.root if checkout else ""


def _ask(git: Git, root: str, inner_paths: dict[str, str]) -> dict[str, tuple[str, str]]:
    names = {path: inner.replace(os.sep, "/") for path, inner in inner_paths.items()}
    specs = [f":(top,literal,icase){name}" for name in names.values()]
    answer = git.ask(root, ["ls-files", "-z", "--", *specs], TIMEOUT_S, trusted=True)
    if answer is None:
        return {path: (UNTOLD, root) for path in names}
    tracked = {os.fsdecode(name).casefold() for name in answer.split(b"\0") if name}
    return {path: (TRACKED, root) for path, name in names.items() if name.casefold() in tracked}


def _portions(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    return (paths[start : start + ASKED] for start in range(0, len(paths), ASKED))
