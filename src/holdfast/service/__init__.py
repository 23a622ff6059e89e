"""The whole answer to a hook: it stores what happened, delivers lessons, and logs what the host received.

It may touch: `recall`, `curation`, `freshness`, `capture`, `lessons`, `ports` and below. Begin with `hook`.
"""
