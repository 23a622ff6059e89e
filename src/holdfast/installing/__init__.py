"""Changes of files that are not ours, each of which can be taken back: hosts' files, git hooks, rules files, trust.

It may touch: `bootstrap`, `publishing`, `ports` and below. The only room that writes hosts' files; it prints nothing.
Begin with `hostfiles` (backup, manifest, restoration), then `forms` and its editors, and `wiring` for one host.
"""
