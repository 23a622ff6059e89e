"""Turns a question or a moment into a briefing: retrieve, score, filter, assemble. `moments` has one file a moment.

This room may import `curation` and everything below it. Hooks call it, so a test lists what they load.
Begin with `retrieve`, then `inject`, which chooses the moment, and `moments/turn`; `ask` answers on demand.
"""
