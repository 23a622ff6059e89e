"""Adds lines to git hooks that keep rules and lesson files up to date, and a merge driver for lesson files.

A plain shell script gets a block at its end. A missing hook is created. Hooks that another program manages, or that a
team shares, are left alone.

Sources: githooks(5); the files that husky 9, lefthook 1 and pre-commit 4 write.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

from holdfast.errors import HostConfigError
from holdfast.lean.gitsafety import git_program, safe_environment
from holdfast.ports.host import BlockEdit, Edit
from holdfast.settings import child_environment, isolated

HOOKS = ("post-merge", "post-checkout", "post-commit")
OWNER = "git:git-hooks:"
"""The owner in the manifest, before the work tree's root."""
LESSONS_OWNER = "git:lessons:"
"""The owner of the merge driver, before the work tree's root."""
LESSONS_LABEL = "lessons"
ATTRIBUTE = "/.holdfast/lessons/**/*.md merge=holdfast"
GIT_TIMEOUT_S = 10
"""Seconds that git may take for one question."""
SHELLS = ("sh", "bash", "dash", "ksh", "zsh", "ash")
KEEPERS = {"lefthook": "lefthook", "pre-commit": "pre-commit.com", "husky": "husky", "overcommit": "overcommit"}
"""Programs that rewrite hooks, each with a word that only its hooks contain."""
BUSY = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG")
"""Files and folders in git's folder that exist while git is at work and other programs must not change files."""


RULES = ("rules", "sync", "--git-hook")


def edits(root: str, arguments: Sequence[str], label: str = "", *, waits: bool = True) -> list[Edit]:
    """Return the edits that make git run `holdfast` with the arguments after a merge, checkout or commit.

    `label` distinguishes these lines from those of another command. Without `waits` git goes on at once. Raises
    HostConfigError, with what to add by hand, if the hooks must not be changed.
    """
    lines = {name: snippet(name, arguments, waits=waits) for name in HOOKS}
    folder = _folder(root, lines)
    return [_edit(os.path.join(folder, name), name, lines, label) for name in HOOKS]


def is_busy(root: str) -> bool:
    """Return whether git is in the middle of a rebase, merge, cherry-pick, revert or bisection, or is missing."""
    folder = run_git(root, "rev-parse", "--absolute-git-dir")
    return not folder or any(os.path.exists(os.path.join(folder, name)) for name in BUSY)


def snippet(name: str, arguments: Sequence[str], *, waits: bool = True) -> str:
    """Return the line for one hook. It keeps the exit status, prints nothing and never fails."""
    program = [word.replace(os.sep, "/") for word in isolated("holdfast.__main__")]
    words = shlex.join([*program, *arguments])
    guard = '[ "$3" = 0 ] || ' if name == "post-checkout" else ""  # 0: only files were checked out
    after = ";" if waits else " &"
    return f"( status=$?; {guard}{words} >/dev/null 2>&1 </dev/null{after} exit $status )"


def _folder(root: str, lines: Mapping[str, str]) -> str:
    """Return the folder of the repository's own hooks. Raises HostConfigError for shared hooks."""
    common = run_git(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not common:
        raise HostConfigError(
            f"{root} is not a git repository", hint="run it in a repository, or without --install-git-hooks"
        )
    shared = run_git(root, "config", "--get", "core.hooksPath")
    folder = run_git(root, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
    if shared and os.path.realpath(folder) != os.path.realpath(os.path.join(common, "hooks")):
        raise _by_hand(f"core.hooksPath is {shared}, and other clones may share those hooks", lines)
    return os.path.join(os.path.realpath(common), "hooks")


def _edit(file: str, name: str, lines: Mapping[str, str], label: str) -> Edit:
    script = _held(file, lines)
    reason = _reason_against(script) if script else ""
    if script and not reason and not os.access(file, os.X_OK):
        reason = "is not executable, so git does not run it"
    if reason:
        raise _by_hand(f"{file} {reason}", lines)
    return BlockEdit(file=file, text=lines[name], script=True, label=label)


def _held(file: str, lines: Mapping[str, str]) -> str:
    if os.path.islink(file):
        raise _by_hand(f"{file} is a link, and others may share the hook that it leads to", lines)
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as exc:
        raise _by_hand(f"{file} cannot be read as a script: {exc}", lines) from exc


def _reason_against(script: str) -> str:
    """Return why nothing may be added to a hook, or ""."""
    keeper = next((name for name, sign in KEEPERS.items() if sign in script.lower()), "")
    if keeper:
        return f"is managed by {keeper}, which would overwrite the line"
    lines = script.splitlines()
    program = lines[0].removeprefix("#!").split()[:2] if lines[0].startswith("#!") else []
    if not any(os.path.basename(word) in SHELLS for word in program):
        return "is not a shell script"
    if any(line.startswith(("exit", "exec ")) for line in lines):
        return "exits before a line at its end would run"
    return ""


def _by_hand(why: str, lines: Mapping[str, str]) -> HostConfigError:
    shown = "\n".join(f"  {name}: {line}" for name, line in lines.items())
    return HostConfigError(f"{why}; nothing was added", hint=f"add a line to each hook yourself:\n{shown}")


def run_git(root: str, *arguments: str) -> str:
    """Return git's output, or "" if it fails. Git uses the repository's own settings, which say where hooks are."""
    program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
    try:
        done = subprocess.run(
            [program, "-C", root, *arguments],
            capture_output=True, timeout=GIT_TIMEOUT_S, env=safe_environment(child_environment()), check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def merge_edits(root: str, hooked: bool) -> list[Edit]:
    """Return the edits by which git merges lesson files with `holdfast merge-driver`; `hooked` adds hooks that sync.

    They are in this clone's git folder: git runs nothing that comes with a clone, and a file in the work tree would
    block a pull that brings the same file. Raises HostConfigError outside a repository, or if hooks must not be
    changed.

    Source: gitattributes(5), "Defining a custom merge driver".
    """
    common = run_git(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not common:
        raise HostConfigError(f"{root} is not a git repository", hint="run the command in a repository")
    program = shlex.join(word.replace(os.sep, "/") for word in isolated("holdfast.__main__"))
    command = f"{program} merge-driver %O %A %B".replace("\\", "\\\\").replace('"', '\\"')
    driver = f'[merge "holdfast"]\n\tname = lessons of Holdfast, field by field\n\tdriver = "{command}"'
    texts = {os.path.join("info", "attributes"): ATTRIBUTE, "config": driver}
    made: list[Edit] = [
        BlockEdit(file=os.path.join(common, name), text=text, script=True, config=True, label=LESSONS_LABEL)
        for name, text in texts.items()
    ]
    return made + (edits(root, ("sync", "--git-hook"), LESSONS_LABEL, waits=False) if hooked else [])
