"""One way of finding lessons each: a session's events to candidates, with the words that prove them.

It may touch: `text`, `ports` and below, and `_writing`; no other detector. Pure: no clock, no file.
Begin with `explicit`; its golden cases are in tests/golden/detectors. To add one, see ARCHITECTURE.md.
"""
