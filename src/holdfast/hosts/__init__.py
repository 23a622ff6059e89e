"""Adapts hosts: payloads and transcripts become events, briefings become output, and set-up is described as data.

It may touch: `text`, `ports` and below, and `sdk`, but no other host. An adapter reads files and writes none.
Begin with `claude_code`; most adapters inherit from `sdk/adapter`. To add one, see ARCHITECTURE.md.
"""
