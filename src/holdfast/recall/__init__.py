"""Turns a question or a moment into a briefing: retrieve, score, filter, assemble. `moments` has a function for each moment.

It may touch: `curation` and below. Hooks call it, so a test lists what they load.
Begin with `retrieve`, then `inject`, which chooses the moment, and `moments/context`; `ask` answers on demand.
"""
