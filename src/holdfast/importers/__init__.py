"""Imports other tools' files: each importer turns one format into passages that may become lessons.

It may touch: `ports` and below, and `sdk`, but no other importer. Databases are opened read-only.
Begin with `rules`; `sdk/markdown` makes passages of sections.
"""
