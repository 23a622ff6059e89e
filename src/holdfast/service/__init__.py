"""The facade of all use cases: `Memory`, which every surface calls, and the whole answer to a hook.

It may touch: every use case and the ports, but nothing that implements a port.
Begin with `memory`, whose methods load their use case when they are called, then `hook.attend`.
"""
