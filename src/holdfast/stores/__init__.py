"""The store backends: one folder each, named after the scheme of its URL. Our own SQL is only here.

It may touch: `ranking`, `text`, `ports` and below. A backend translates its driver's errors.
Begin with `sqlite/store`; a new backend inherits `tests/contract/store_contract` in its tests.
"""
