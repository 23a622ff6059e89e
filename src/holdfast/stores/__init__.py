"""The store backends: one folder each, named after the scheme of its URL. Our own SQL is only here.

This room may import `ranking`, `text`, `ports` and everything below them. A backend translates its driver's errors.
Begin with `sqlite/store`; a new backend inherits `holdfast.testing.store_contract` in its tests.
"""
