"""Whether a lesson still fits today's code: check, verify, compare, notice in a session, watch.

It may touch: `capture`, `lessons` and below. It asks the port CodeIndex and parses nothing itself.
Begin with `check`; `verify` writes down what was found, `notice` tells a session what it broke.
"""
