"""Changes files of other programs, reversibly: hosts' files, git hooks, rules files.

It may touch: `bootstrap`, `publishing`, `ports` and below. No other room writes hosts' files; this one prints nothing.
Begin with `setup`, then `hostfiles` (backup, manifest, restoration), `forms` and its editors, `wiring` for one host.
"""
