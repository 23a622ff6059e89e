"""Answers people, agents and hosts: parses input, calls `Memory`, renders the answer. Has `cli`, `mcp` and `hooks`.

It may touch: `installing`, `backfill`, `bootstrap`, `service`, `rendering` and below; nothing behind a port.
Begin with `cli/main`, `mcp/server` or `hooks/client`. Only surfaces print or exit.
"""
