"""Calls language models: each model turns a prompt into an answer, only if the user chose it.

It may touch: `ports` and below, and `_http`, but no other model.
Begin with `agent`, which runs an installed agent program.
"""
