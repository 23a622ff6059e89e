"""Contracts that a backend's tests inherit, and a store in memory. `packages/holdfast-testing` publishes this folder.

Begin with `store_contract`. Modules name each other relatively, because the published package has another name.
"""
