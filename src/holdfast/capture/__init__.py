"""A host's events into the store: redacted, relative to the project, nothing of an ignored path; their retention.

It may touch: `lessons` and below. Transcripts and other late sources are read by `backfill`.
Begin with `observe`, then `sessionevents` (how a session is read again).
"""
