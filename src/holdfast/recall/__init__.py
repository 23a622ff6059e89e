"""Turns a question or a moment into a briefing: retrieve, score, filter, assemble. `moments` has a function a moment.

It may touch: `curation` and below.
Begin with `deliver`, then `situation` and `moments`; `retrieve` finds lessons, and `ask` answers on demand.
"""
