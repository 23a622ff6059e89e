"""Maintains a whole home: backs it up, restores it, makes scratch copies, checks what would be delivered, and
tidies a project's lessons.

It may touch: `bootstrap`, `home` and below. It prints nothing.
Begin with `archive`; `rehearsal` plays a moment on a `scratch` copy; `tidying` has a docstring of its own.
"""
