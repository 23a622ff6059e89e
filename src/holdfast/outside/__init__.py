"""Reaches outside for plug-ins of several rooms: other programs' SQLite files, HTTP endpoints.

It may touch: `errors`, `text`, httpx2 and the standard library. Plug-ins import it; use cases and surfaces do not.
Begin with `sqlitefile`, which reads a database without leaving a trace, and `endpoint`.
"""
