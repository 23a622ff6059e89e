"""What the use cases around share: the ledger of changes, look-up by id, checking a statement, anchors of a new lesson.

It may touch: `ports`, `ranking`, `rendering`, `text` and below; no other use case.
Begin with `ledger` (one change, one transaction), then `statement` and `anchoring`.
"""
