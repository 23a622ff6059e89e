"""For tests, also those of outside plug-ins: the contract of a store, builders of records, made-up credentials.

It may touch: everything but the surfaces.
Begin with `store_contract` for a backend, `builders` for everything else.
"""
