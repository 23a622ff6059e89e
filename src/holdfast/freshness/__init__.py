"""Decides whether a lesson still matches today's code: check, verify, compare, notice in a session, watch.

It may touch: `capture`, `lessons` and below. It asks the port CodeIndex and parses nothing.
Begin with `check`; `verify` records what it finds, `notice` tells a session about changes that it made.
"""
