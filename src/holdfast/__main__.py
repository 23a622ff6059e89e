"""The program `holdfast`: the command line, or at once a hook.

A host that starts hooks by our name pays for two interpreters, but not for the command line in between.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command given; `hook HOST` becomes the hook program."""
    if sys.argv[1:2] == ["hook"] and len(sys.argv) > 2 and not sys.argv[2].startswith("-"):
        from holdfast.settings import hook_program
        from holdfast.surfaces.cli._becoming import become

        become(hook_program(*sys.argv[2:]))
    from holdfast.surfaces.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
