"""Learns from what happened earlier: reads transcripts and other tools' files, and distils waiting sessions.

It may touch: `bootstrap`, `home` and below. It reads files; it prints nothing.
Begin with `run` (transcripts) and `importing`, then `loading` (a file after another, from where the last run stopped).
"""
