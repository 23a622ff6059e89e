"""Outcomes of deliveries: what sessions did with lessons, and how that moves the order (ADR 24).

It may touch: `capture` and below.
Begin with `settle`, which judges a session to its end; `judge` gives one delivery its verdict, `standing` sums them up.
"""
