"""Keeps the files that processes share beside the store: log, locks, learner requests, the spool, the witness.

It may touch: `service` and below. A hook imports this room only if something failed or a learner is needed.
Begin with `runfiles`, then `spool` (events that the store could not take at once).
"""
