"""Outcomes of deliveries, and their effects on lessons: standing, weights, thresholds (ADR 24).

It may touch: `capture`, `lessons` and below.
Begin with `settle`, which judges a session to its end; `judge` gives one delivery its verdict.
"""
