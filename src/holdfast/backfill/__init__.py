"""What is read later than it happened: transcripts, other tools' files, sessions that wait for a model.

It may touch: `bootstrap`, `home` and below. It reads files; it prints nothing.
Begin with `run` (transcripts) and `importing`, then `loading` (a file after another, from where the last run stopped).
"""
