"""Builders of records for tests, the tests of outside plug-ins included.

It may touch: `text` and below.
Begin with `builders`. The contracts of a backend are `tests/contract`, which the package `holdfast-testing` publishes.
"""
