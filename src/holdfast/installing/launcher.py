"""The launcher: the one file of ours that hosts start, in Holdfast's home, where it outlives the package.

A host takes a hook that cannot be started for "no": without the launcher, removing the package would stop every agent
that was set up. It is also the only file that knows the interpreter and the package, so that after an upgrade hosts'
files stay as they are.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from holdfast.ports.host import OwnFile
from holdfast.settings import program_paths

if TYPE_CHECKING:
    from holdfast.installing.hostfiles import Change, HostFiles
    from holdfast.settings import Settings

OWNER = "holdfast:launcher:"
"""The owner in the manifest."""
MARK = "Starts Holdfast for the agents that were set up."

POSIX = """\
#!/bin/sh
# {mark} Written by `holdfast setup`, removed by `holdfast uninstall`.
# Without Holdfast or its Python a hook ends with 0 and says nothing, so that no agent is disturbed.
python={python}
package={package}
[ -x "$python" ] || python=${{python%/*}}/python3 # the environment was made anew with another version of Python
if [ ! -r "$package/surfaces/start.py" ]; then
    for found in "${{python%/*/*}}"/lib*/python3*/site-packages/holdfast; do
        [ ! -r "$found/surfaces/start.py" ] || package=$found
    done
fi
if [ "$1" = --mcp ]; then
    shift
    exec "$python" -I "$package/surfaces/start.py" holdfast.surfaces.mcp.__main__ "$@"
fi
if [ -x "$python" ] && [ -r "$package/surfaces/hooks/entry.py" ]; then
    "$python" -I -S "$package/surfaces/hooks/entry.py" "$@" 2>/dev/null
fi
exit 0
"""
WINDOWS = """\
@echo off
rem {mark} Written by "holdfast setup", removed by "holdfast uninstall".
"{python}" -I -S "{package}/surfaces/hooks/entry.py" %* 2>nul
exit /b 0
"""


def plan(files: HostFiles, settings: Settings) -> Change:
    """The change that puts the launcher of this installation in place."""
    edit = launcher_file(settings.home)
    return files.plan_file(edit.file, {OWNER: [edit]}, [edit])


def plan_removal(files: HostFiles, settings: Settings) -> Change:
    """The change that takes the launcher away."""
    edit = launcher_file(settings.home)
    return files.plan_file(edit.file, {OWNER: []}, [edit])


def launcher_file(home: str) -> OwnFile:
    """The launcher that starts this installation."""
    python, package, file = program_paths(home)
    return OwnFile(file=file, text=launcher_text(python, package), ours=MARK, script=True)


def launcher_text(python: str, package: str, windows: bool = os.name == "nt") -> str:
    """What the launcher says, given the interpreter and the package's folder."""
    if windows:
        python, package = (path.replace("%", "%%") for path in (python, package))
        return WINDOWS.format(mark=MARK, python=python, package=package)
    return POSIX.format(mark=MARK, python=shlex.quote(python), package=shlex.quote(package))
