"""Accounts, rights and review of a team server: who may do what, and when a proposed lesson reaches the others.

It may touch: `curation` and below. It knows ports only; a server gives it the stores of one organisation at a time.
Begin with `access` (from a token to a caller), then `review` (from a proposal to a lesson); `audit` records it all.
"""
