"""Compares lessons: whether two say the same, contradict each other or overrule a command, and which one is kept.

It may touch: `text`, `domain` and below. It does no I/O and knows neither scores nor stores.
Begin with `contradiction`. `settlement` says what follows from a contradiction.
"""
