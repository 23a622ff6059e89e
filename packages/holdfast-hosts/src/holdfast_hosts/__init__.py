"""Adapters for hosts whose programs Holdfast's own tests have never run.

Each module has `make(options)`, which the entry points of `pyproject.toml` name. An adapter builds on
`holdfast.hosts.sdk` and reads files; it writes none, and imports no other adapter.
"""
