"""Care of a whole home: backups and restoring, copies that are thrown away, checks of what would be delivered.

It may touch: `bootstrap`, `home` and below. It prints nothing.
Begin with `archive`; `rehearsal` plays a moment on a `scratch` copy.
"""
