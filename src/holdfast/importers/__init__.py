"""Imports other tools' files: each importer turns one format into passages that may become lessons.

It may touch: `ports` and below, and `_shared`, but no other importer. Databases are opened read-only.
Begin with `agents_md`; `_shared/passages` makes passages of sections.
"""
