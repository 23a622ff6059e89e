"""One foreign form each: files of other tools to passages that may become lessons.

It may touch: `ports` and below, and `_shared`; no other importer. Databases are opened read-only.
Begin with `agents_md`; `_shared/passages` makes passages of sections.
"""
