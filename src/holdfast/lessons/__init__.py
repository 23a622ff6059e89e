"""Code that the use cases share: the ledger of changes, look-up by id, checks of statements, anchors of new lessons.

It may touch: `ports`, `ranking`, `rendering`, `text` and below; no other use case.
Begin with `ledger` (one change, one transaction), then `statement` and `anchoring`.
"""
