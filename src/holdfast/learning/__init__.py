"""Candidates to lessons: admission, association, command cards, distillation by a model, a repository's history.

It may touch: `curation` and below. Detectors are called through their port; only learners come here, never a hook.
Begin with `learn`, then `admission` (what is let in, merged, or waits).
"""
