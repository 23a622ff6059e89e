"""How git is asked so that neither the surroundings nor the repository's own configuration change the answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MISLEADING = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE",
    "GIT_PREFIX", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_EXTERNAL_DIFF",
)  # fmt: skip
"""Variables of a surrounding git command (a hook of git's own, a rebase) that would point it elsewhere."""

QUIET = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "--no-pager",
)  # fmt: skip
"""A repository's own configuration must not start programs."""

UNTRUSTED = ("-c", "safe.bareRepository=explicit")
"""For questions about a work tree: a folder of a clone that looks like a repository is none."""


def calm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment a git of ours runs in: it asks nobody, locks nothing and fetches nothing."""
    harmless = {name: value for name, value in environ.items() if name not in MISLEADING}
    return {
        **harmless, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
        # Releases before 2024 do not know the first; the second allows a protocol that there is not, and no other.
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    }  # fmt: skip


def may_filter(config: bytes) -> bool:
    """Whether a repository's configuration file may name filters, by itself or in a file that it includes."""
    text = config.lower()
    return b"filter" in text or b"include" in text


def without_filters(names: Sequence[str]) -> tuple[str, ...] | None:
    """Options that switch off the filters among the names of all settings; None where that cannot be.

    `git status` starts the filter of a changed file to compare it.
    """
    filters = dict.fromkeys(name.rpartition(".")[0] for name in names if name.startswith("filter."))
    if any("=" in name for name in filters):
        return None  # git would take it for the end of the option's name
    settings = (f"{name}.{what}" for name in filters for what in ("clean=", "process=", "required=false"))
    return tuple(word for setting in settings for word in ("-c", setting))


def git_program(path: str, exists: Callable[[str], bool], windows: bool) -> str:
    """The git to start. On Windows by its path: the system would look into the current folder first."""
    if not windows:
        return "git"
    programs = (
        folder.strip('"').rstrip("\\/") + "\\git.exe" for folder in path.split(";") if folder.strip('"')[1:2] == ":"
    )
    return next(filter(exists, programs), "C:\\no git on the PATH\\git.exe")
