"""Says what a memory holds and what happened to it, for people: each report is one function that returns plain records.

It may touch: `learning`, `recall`, `publishing`, `team` and below. It writes nothing but a person's decisions about a
report, renders no page and knows no surface.
Begin with `digest`.
"""
