"""Turns lessons into files that others read: rules files, and lessons shared by a team.

It may touch: `curation` and below. It decides what a file should hold; `installing` and the workspace write it.
Begin with `rules`; `sync` runs the whole of sharing.
"""
