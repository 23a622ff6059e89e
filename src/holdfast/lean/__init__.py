"""What a hook can afford to import: records, text forms, git's environment, the time limits of a hook.

It may touch: `errors` and the standard library's built-in modules; nothing here opens a file of ours.
Begin with `records` (every record is a `Frozen`), then `texts` (JSON, ids, paths), `plain` and `deadline`.
"""
