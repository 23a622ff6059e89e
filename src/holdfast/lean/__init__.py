"""What every room may import: text forms, plain values, files and locks, git's environment, a deadline.

It may touch: `errors` and the standard library; only `files` touches the disk, at its caller's path.
Begin with `texts` (JSON, ids, paths), then `plain`, `files` and `deadline`.
"""
