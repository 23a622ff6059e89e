"""The SDK: sessions that an agent in Python reports, and clients of a server on another machine.

It may touch: `domain`, `lean` and `errors`. An operation of a server is described in one place, for both clients.
Begin with `session`.
"""
