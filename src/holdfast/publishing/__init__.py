"""Lessons to files that others read: rules files, skills, units, and lessons shared by a team (`sharing`).

It may touch: `curation` and below. It says what a file should hold; `installing` and the workspace write it.
Begin with `rules`; `sharing/sync` is the whole of sharing.
"""
