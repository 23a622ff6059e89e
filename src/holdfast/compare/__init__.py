"""Compares lessons: whether two say the same, contradict each other or overrule a command, and which one is kept.

It may touch: `text`, `domain` and below. It does no I/O and knows neither scores nor stores.
Begin with `contradiction`, which also rules which of two lessons is the better one.
"""
