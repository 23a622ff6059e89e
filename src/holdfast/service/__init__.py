"""The front of all use cases: `Memory`, which every surface calls, and a hook's whole answer.

It may touch: every use case and the ports; nothing that stands behind a port.
Begin with `memory`, whose methods load their use case when they are called, then `hook.attend`.
"""
