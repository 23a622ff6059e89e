"""Turns candidates into lessons: admission, associations, command cards, distillation by a model, a repository's
history.

It may touch: `curation` and below. It calls detectors through their port. Only learners load it; hooks never do.
Begin with `learn`, then read `admission`, which decides what is added, merged or left waiting.
"""
