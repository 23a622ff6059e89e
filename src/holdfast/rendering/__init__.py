"""Renders lessons as text for an agent, within a token budget and inside a fence; and the JSON views of all surfaces.

It may touch: `text` and below. It is pure; it neither ranks nor prints.
Begin with `lines`, then `budget` (tokens of a text) and `views` (JSON).
"""
