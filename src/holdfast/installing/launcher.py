"""Writes the launcher, the only file of Holdfast that hosts start. It is in Holdfast's home and outlives the package.

A host treats a hook that cannot be started as a refusal. Without the launcher, removing the package would stop every
agent that was set up. The launcher is also the only file that names the interpreter and the package, so that hosts'
files need no change after an upgrade. Where the package has a compiled program for hooks (`launcher/hook.c`), the
launcher becomes that program; otherwise it starts Python.
"""

from __future__ import annotations

import os
import shlex

from holdfast.installing.hostfiles import FileChange, HostFiles
from holdfast.ports.host import OwnFile
from holdfast.settings import Settings, program_paths

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
if [ -x "$package/_launcher/hook" ]; then
    exec "$package/_launcher/hook" "$python" "$package/surfaces/hooks/entry.py" "$@" 2>/dev/null
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


def plan(files: HostFiles, settings: Settings) -> FileChange:
    """Plan the change that writes this installation's launcher."""
    edit = launcher_file(settings.home)
    return files.plan_file(edit.file, {OWNER: [edit]}, [edit])


def plan_removal(files: HostFiles, settings: Settings) -> FileChange:
    """Plan the change that removes the launcher."""
    edit = launcher_file(settings.home)
    return files.plan_file(edit.file, {OWNER: []}, [edit])


def launcher_file(home: str) -> OwnFile:
    """Return the launcher that starts this installation."""
    python, package, file = program_paths(home)
    return OwnFile(file=file, text=launcher_text(python, package), ours=MARK, script=True)


def launcher_text(python: str, package: str, windows: bool = os.name == "nt") -> str:
    """Return the launcher's text for the interpreter and the package's folder."""
    if windows:
        python, package = (path.replace("%", "%%") for path in (python, package))
        return WINDOWS.format(mark=MARK, python=python, package=package)
    return POSIX.format(mark=MARK, python=shlex.quote(python), package=shlex.quote(package))
