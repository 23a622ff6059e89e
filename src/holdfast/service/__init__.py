"""The whole answer to a hook: it stores what happened, delivers lessons, and logs what the host received.

It may touch: every use case that a hook needs and the ports, but nothing that implements a port.
Begin with `hook`.
"""
