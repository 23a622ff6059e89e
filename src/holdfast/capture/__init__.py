"""Stores a host's events, redacted, relative to the project, without ignored paths; and drops old texts.

It may touch: `lessons` and below. `backfill` reads transcripts and other late sources.
Begin with `observe`, then `sessionevents` (reads a session back).
"""
