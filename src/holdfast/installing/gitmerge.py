"""Makes git merge lesson files with `holdfast merge-driver`: adds an attribute, a driver and, on request, hooks.

The attribute and the driver are in this clone's git folder. Git runs nothing that comes with a clone, and a file in the
work tree would block a pull that brings the same file.

Source: gitattributes(5), "Defining a custom merge driver".
"""

from __future__ import annotations

import os
import shlex

from holdfast.errors import HostConfigError
from holdfast.installing import githooks
from holdfast.ports.host import BlockEdit, Edit
from holdfast.settings import isolated

OWNER = "git:lessons:"
"""The owner in the manifest, before the work tree's root."""
LABEL = "lessons"
ATTRIBUTE = "/.holdfast/lessons/**/*.md merge=holdfast"


def edits(root: str, hooked: bool) -> list[Edit]:
    """Return the edits of git's files. Raises HostConfigError outside a repository, or if hooks must not be changed."""
    common = githooks.run_git(root, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not common:
        raise HostConfigError(f"{root} is not a git repository", hint="run the command in a repository")
    texts = {os.path.join("info", "attributes"): ATTRIBUTE, "config": _driver()}
    made: list[Edit] = [
        BlockEdit(file=os.path.join(common, name), text=text, script=True, config=True, label=LABEL)
        for name, text in texts.items()
    ]
    return made + (githooks.edits(root, ("sync", "--git-hook"), LABEL, waits=False) if hooked else [])


def _driver() -> str:
    program = shlex.join(word.replace(os.sep, "/") for word in isolated("holdfast.__main__"))
    command = f"{program} merge-driver %O %A %B".replace("\\", "\\\\").replace('"', '\\"')
    return f'[merge "holdfast"]\n\tname = lessons of Holdfast, field by field\n\tdriver = "{command}"'
