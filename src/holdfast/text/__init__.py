"""Reads text: words, identifiers, globs, command lines, error signatures, time spans, whose words, and secrets.

It may touch: `domain` and below. It is pure, and knows neither scores nor stores; hooks import part of it.
Begin with `words`; a session's events are read by `window` and `attempts`; `redaction` takes secrets out.
"""
