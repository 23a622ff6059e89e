"""Knows the structure of code: definitions, fingerprints, and what became of an anchor.

It may touch: `text`, `ports` and below. Only this room parses code. Its index can be rebuilt at any time.
Begin with `local`, which implements the port, then `source` and `verdict`. Languages are data in `languages`.
"""
