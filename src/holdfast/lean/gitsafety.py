"""Calls of git that neither the environment nor the repository's own configuration can influence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

UNSAFE_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE",
    "GIT_PREFIX", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_EXTERNAL_DIFF",
)  # fmt: skip
"""Variables from a surrounding git command (git's own hook, a rebase) that would misdirect a git of ours."""

SAFE_OPTIONS = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "--no-pager",
)  # fmt: skip
"""Options that keep a repository's own configuration from starting programs."""

UNTRUSTED = ("-c", "safe.bareRepository=explicit")
"""Options for queries of a work tree: a folder of a clone that looks like a repository does not count as one."""


def safe_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a git of ours: it prompts nobody, takes no locks and fetches nothing."""
    harmless = {name: value for name, value in environ.items() if name not in UNSAFE_VARIABLES}
    return {
        **harmless, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
        # Releases before 2024 do not know the first; the second allows only a protocol that does not exist.
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    }  # fmt: skip


def may_filter(config: bytes) -> bool:
    """Return whether a repository's configuration file may name filters, directly or in a file that it includes."""
    text = config.lower()
    return b"filter" in text or b"include" in text


def without_filters(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return options that switch off the filters among the names of all settings; None where that is impossible.

    Without them `git status` runs the filter of a changed file to compare it.
    """
    filters = dict.fromkeys(name.rpartition(".")[0] for name in names if name.startswith("filter."))
    if any("=" in name for name in filters):
        return None  # git would end the option's name at the equals sign
    settings = (f"{name}.{what}" for name in filters for what in ("clean=", "process=", "required=false"))
    return tuple(word for setting in settings for word in ("-c", setting))


def git_program(path: str, exists: Callable[[str], bool], windows: bool) -> str:
    """Return the git to start. On Windows it is a path, because the system searches the current folder first."""
    if not windows:
        return "git"
    programs = (
        folder.strip('"').rstrip("\\/") + "\\git.exe" for folder in path.split(";") if folder.strip('"')[1:2] == ":"
    )
    return next(filter(exists, programs), "C:\\no git on the PATH\\git.exe")


# Addresses of repositories


_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")


def shown(url: str) -> str:
    """Return the address without a login, for people."""
    return _LOGIN.sub("", url)


def is_address(text: str) -> bool:
    """Return whether the text is an address of a git repository, or a path, rather than a name."""
    return "://" in text or os.sep in text or "/" in text or re.match(r"[\w.-]+@[\w.-]+:", text) is not None
