"""Lessons to text for an agent, within a token budget and inside a fence; and the JSON views that all surfaces print.

It may touch: `text` and below. It is pure; it neither ranks nor prints.
Begin with `lines`, then `budget` (what a text costs) and `views` (JSON).
"""
