"""Facts to scores: relevance of words, fusion of retrievers, thresholds, multipliers, diversity. It words no text.

It may touch: `text` and below. It is pure: the same facts give the same scores.
Begin with `fuse` (how retrievers are joined), then `bar` (when a lesson is relevant enough) and `multipliers`.
"""
