"""One backend a folder, named by the scheme of its URL. The only SQL of ours.

It may touch: `ranking`, `text`, `ports` and below. It translates its driver's errors.
Begin with `sqlite/store`; a new backend inherits `holdfast.testing.store_contract` in its tests.
"""
