"""Reads text: words, identifiers, globs, command lines, error signatures, time spans, speakers and secrets.

It may use `domain` and below, and does no I/O. It knows neither scores nor stores. Hooks import parts of it.
Begin with `words`. `window` and `attempts` read a session's events; `redaction` removes secrets.
"""
