"""One language model each: a prompt to an answer, only where the user chose a model.

It may touch: `ports` and below, and `_http`; no other model.
Begin with `agent`, which asks an agent program that is installed.
"""
