"""Starts every process of Holdfast except hooks: `<python> -I <this file> MODULE [arguments]`.

-I keeps the current folder, PYTHONPATH and the user's site folder off the module path. A host starts its servers in the
repository it works on, and a file of that repository called `anyio.py` must not run. Holdfast may be installed in the
user's site folder or in a folder of its own, so this module puts those two back on the path.
"""

import os
import sys
from importlib import import_module

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> None:
    """Run the `main` function of the module that the first argument names; the other arguments are passed on."""
    _restore_path(SOURCE)
    module = sys.argv.pop(1)
    import_module(module).main()


def isolate() -> None:
    """Do for a process that was started without -I what -I does for its module path."""
    if sys.flags.isolated:
        return
    begin = 0 if sys.flags.safe_path else 1  # the first is the script's folder, or the current one
    environment_folders = {os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    sys.path[:] = [path for path in sys.path[begin:] if path and os.path.abspath(path) not in environment_folders]
    _restore_path(SOURCE)


def _restore_path(folder: str) -> None:
    if folder in sys.path:
        return
    if sys.prefix == sys.base_prefix and not os.environ.get("PYTHONNOUSERSITE"):  # no virtual environment
        _add_user_site()
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _add_user_site() -> None:
    """Insert the user's site folder where Python puts it: after the standard library, before the system's packages."""
    import site

    usual, shared = list(sys.path), site.getsitepackages()
    site.addsitedir(site.getusersitepackages())
    added = [folder for folder in sys.path if folder not in usual]
    place = next((number for number, folder in enumerate(usual) if folder in shared), len(usual))
    sys.path[:] = [*usual[:place], *added, *usual[place:]]


if __name__ == "__main__":
    main()
