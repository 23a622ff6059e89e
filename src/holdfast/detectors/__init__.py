"""Finds lessons: each detector turns a session's events into candidates, with the words that prove them.

It may touch: `text`, `ports` and below, and `_shared`, but no other detector. A detector reads no clock and no file.
Begin with `explicit`; its golden cases are in tests/golden/detectors. To add one, see ARCHITECTURE.md.
"""
