"""The records that flow through Holdfast and its closed vocabularies: events, candidates, lessons, briefings, queries.

It may touch: `lean` and `errors`. Records validate themselves when they are made; nothing here does I/O.
Begin with `vocabulary` (states, trusts), `kinds` and `moments`, then `lesson` and `event`.
"""
