"""Adapts hosts: payloads and transcripts become events, briefings become output, and set-up is described as data.

An adapter may use `text`, `ports` and below, and `_shared`, but no other host. It reads files and never writes them.
Begin with `claude_code`; most adapters inherit from `_shared/adapter`. To add one, see ARCHITECTURE.md.
"""
