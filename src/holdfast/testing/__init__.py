"""Helpers for tests, including those of outside plug-ins: a store's contract, record builders, made-up credentials.

It may touch: everything but the surfaces.
Begin with `store_contract` for a backend, `builders` for everything else.
"""
