"""From a question or a moment to a briefing: retrieve, score, filter, assemble. `moments` has one file a moment.

It may touch: `curation` and below. Hooks come here: what they import is listed by a test.
Begin with `retrieve`, then `inject`, which chooses the moment, and `moments/turn`; `ask` answers on demand.
"""
