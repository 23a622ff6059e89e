"""Embeds texts: each embedder turns texts into unit vectors of a named model.

An embedder may use `ports` and below, and `_remote`, but no other embedder. It uses the network only if the user
configured it. Begin with `static`, the default, which needs neither network nor model runtime.
"""
