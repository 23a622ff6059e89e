"""How git is asked so that neither the surroundings nor the repository's own configuration change the answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MISLEADING = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE",
    "GIT_PREFIX", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_PARAMETERS", "GIT_TRACE", "GIT_EXTERNAL_DIFF",
)  # fmt: skip
"""Variables of a surrounding git command (a hook of git's own, a rebase) that would point it elsewhere."""

QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager")
"""A repository's own configuration must not start programs."""


def calm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment a git of ours runs in: it asks nobody, locks nothing and fetches nothing."""
    kept = {name: value for name, value in environ.items() if name not in MISLEADING}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
