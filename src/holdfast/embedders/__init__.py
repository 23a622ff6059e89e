"""One way of embedding each: texts to unit vectors of a named model.

It may touch: `ports` and below, and `_remote`; no other embedder. The network only where the user configured it.
Begin with `static`, the default, which needs neither network nor model runtime.
"""
