"""The ways in: the command line, the MCP server, the hooks. Each parses its input, calls `Memory` and renders.

It may touch: `installing`, `backfill`, `bootstrap`, `service`, `rendering` and below; nothing behind a port.
Begin with `cli/main`, `mcp/server` or `hooks/client`. Only surfaces print or exit.
"""
