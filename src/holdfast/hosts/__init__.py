"""One agent program each: its payloads and transcripts to events, a briefing to its payload, what to install as data.

It may touch: `text`, `ports` and below, and `_shared`; no other host. Files are read here, never written.
Begin with `claude_code`; `_shared/adapter` is what most hosts inherit. To add one, see ARCHITECTURE.md.
"""
