"""Modules that a hook can afford to import: records, text forms, files and locks, git's environment, a deadline.

It may touch: `errors` and built-in modules; only `files` touches the disk, at its caller's path.
Begin with `records` (every record is a `Frozen`), then `texts` (JSON, ids, paths), `plain`, `files` and `deadline`.
"""
