"""Importers of other memory tools' stores, whose form is known from their source only.

Each module has `make(options)`, which the entry points of `pyproject.toml` name. Databases are opened read-only.
"""
