"""Knows the structure of code: definitions, fingerprints, imports, and what became of an anchor.

It may use `text`, `ports` and below, and only here code is parsed. The index can be rebuilt at any time. Begin with
`local`, which implements the port, then `source` and `verdict`. Languages are data in `languages`.
"""
