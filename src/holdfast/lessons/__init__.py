"""Code that the use cases share: the ledger of changes, look-up by id, checks of statements, anchors of new lessons.

This room may import `ports`, `ranking`, `rendering`, `text` and everything below them; no other use case.
Begin with `ledger` (one change, one transaction), then `statement` and `anchoring`.
"""
