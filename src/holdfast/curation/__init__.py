"""What a person or an agent does with lessons: remember, revise, forget, review, undo, explain, import and export.

It may touch: `freshness`, `outcomes`, `capture`, `lessons` and below. Each use case is one file.
Begin with `remember`; `undo` shows how every change can be taken back.
"""
