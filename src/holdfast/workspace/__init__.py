"""Reads the disk and git: a folder's project, blobs, history, changed files, lesson files.

It may touch: `ports` and below. No git command here runs a repository's configuration.
Begin with `local`, which implements the port; `identity` says which project a folder belongs to.
"""
