"""Shared lessons over a team server: the server's side, the client's side, and what travels between them.

The rule of `publishing.lessonfile` (`join`) is the only merge rule, on both sides. Begin with `server` (what the
server does with a document), then `exchange` (what a client does).
"""
