"""Embeds texts: each embedder turns texts into unit vectors of a named model.

It may touch: `ports` and below, and `_remote`, but no other embedder. It uses the network only if the user set it up.
Begin with `static`, the default, which needs neither network nor model runtime.
"""
