"""The records that flow through Holdfast, and its closed vocabularies: events, candidates, lessons, briefings, queries.

It may touch: `lean` and `errors`. Records check themselves when they are made; nothing here reads or writes.
Begin with `vocabulary` (states, trusts), `kinds` and `moments`, then `lesson` and `event`.
"""
