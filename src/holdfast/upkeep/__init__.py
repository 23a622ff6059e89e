"""Maintains a whole home: backs it up, restores it, makes scratch copies, and checks what would be delivered.

It may touch: `bootstrap`, `home` and below. It prints nothing.
Begin with `archive`; `rehearsal` plays a moment on a `scratch` copy.
"""
