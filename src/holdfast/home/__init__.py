"""Files in Holdfast's home that processes share beside the store: log, turns, errands, the spool, the witness.

It may touch: `service` and below. A hook imports this only where something failed or is to be learnt.
Begin with `runfiles`, then `spool` (events that the store could not take at once).
"""
