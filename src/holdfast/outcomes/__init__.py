"""What became of deliveries, and what that moves: standing, weights, thresholds (ADR 24).

It may touch: `capture`, `lessons` and below.
Begin with `settle`, which reads a session to its end; `judge` gives one delivery its verdict.
"""
