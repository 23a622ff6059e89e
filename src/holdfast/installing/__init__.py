"""Changes of files that are not ours, each of which can be taken back: hosts' files, git hooks, rules files, skills.

It may touch: `bootstrap`, `publishing`, `ports` and below. The only room that writes hosts' files; it prints nothing.
Begin with `setup`, then `hostfiles` (backup, manifest, restoration), `forms` and its editors, `wiring` for one host.
"""
