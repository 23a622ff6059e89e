"""What plug-ins of several rooms reach outside in one way: other programs' SQLite files.

It may touch: `errors`, `text`, the standard library; plug-in rooms may import it, use cases and surfaces may not.
Begin with `sqlitefile`, which reads a database without leaving a trace.
"""
