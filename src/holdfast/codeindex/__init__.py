"""The structure of code: definitions, fingerprints, imports, what became of an anchor. Only here code is parsed.

It may touch: `text`, `ports` and below. Its index can be rebuilt at any time.
Begin with `local`, which implements the port, then `source` and `verdict`. Languages are data in `languages`.
"""
