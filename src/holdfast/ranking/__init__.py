"""Turns facts into scores: retrievers, lexical overlap, fusion, thresholds, multipliers, diversity. It writes no text.

It may touch: `text` and below. It is pure: the same facts give the same scores.
Begin with `retrievers` (what a store's facts are worth), then `fuse` (how they are combined), `threshold` (when a
lesson is relevant enough) and `multipliers`; every number is in `tuning`.
"""
