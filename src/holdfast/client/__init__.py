"""The SDK: sessions that an agent in Python reports, and clients of a server on another machine.

It may touch: `outside`, `domain`, `lean` and `errors`. A server's operation is described once, for both clients.
Begin with `session`.
"""
