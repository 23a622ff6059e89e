"""Operations of a person or an agent on lessons: remember, revise, forget, review, undo, explain, import, export.

It may touch: `freshness`, `outcomes`, `capture`, `lessons` and below. A use case is one file.
Begin with `remember`; `undo` shows how every change can be taken back.
"""
