"""What an adapter of a host is built from, for adapters in other distributions, too (docs/howto/plugins.md).

Begin with `adapter.Adapter`, which most adapters inherit from, and `adapter.McpClient` for a host without hooks.
`hooks` reads and renders payloads of hooks, `replay.TranscriptReplay` turns a transcript into the same events, and
`programs` has the commands that setup registers.
"""
