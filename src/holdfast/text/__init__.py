"""Reads text: words, identifiers, globs, command lines, error signatures, time spans and speakers.

It may touch: `domain` and below. It does no I/O and knows neither scores nor stores. Hooks import parts of it.
Begin with `words`. `window` reads a session's events.
"""
