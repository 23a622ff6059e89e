"""The program `holdfast`: the command line, or at once the MCP server or a hook, which must start quickly."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command given; `mcp` and `hook HOST` start without the command line."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and len(arguments) > 1 and not arguments[1].startswith("-"):
        from holdfast.settings import hook_program
        from holdfast.surfaces.cli.becoming import become

        become(hook_program(*arguments[1:]))
    options = _server_options(arguments[1:]) if arguments[:1] == ["mcp"] else None
    if options is not None:
        _serve(**options)
        return
    from holdfast.surfaces.cli.main import main as command_line

    command_line()


def _server_options(arguments: list[str]) -> dict[str, str] | None:
    """Return the options of `holdfast mcp`; None for what the command line must judge: help, mistakes, other forms."""
    options: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        if argument == "--hooked":
            options["hooked"] = argument
            continue
        name = {"--for": "host", "-C": "folder", "--folder": "folder"}.get(argument)
        value = next(rest, "")
        if name is None or not value or (name == "folder" and not os.path.isdir(value)):
            return None
        options[name] = value
    return options


def _serve(host: str = "", folder: str = "", hooked: str = "") -> None:
    """Run the MCP server in this process, which then looks for modules only where `python -I` would."""
    from holdfast.surfaces.start import isolate

    isolate()
    if folder:
        os.chdir(folder)
    from holdfast.surfaces.mcp.__main__ import main as serve

    sys.argv[1:] = []
    serve(host, bool(hooked))


if __name__ == "__main__":
    main()
