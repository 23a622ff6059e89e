"""The words for a verdict on an anchor: no other code turns a reason into words."""

from __future__ import annotations

from holdfast.domain.symbol import Verdict

REASONS: dict[str, str] = {
    "same": "",
    "annotations": "annotations only",
    "layout": "comments or layout only",
    "body": "body changed{detail}",
    "declaration": "declaration changed{detail}",
    "definitions": "{detail}",
    "signature": "{detail}",
    "signature_and_body": "{detail}; body too",
    "moved": "",
    "moved_and_changed": "changed since",
    "file_changed": "{path} changed since",
    "file_gone": "{path} is gone",
    "gone": "{symbol} is gone from {path}",
    "deleted": "{symbol} deleted in commit {detail}",
    "deleted_here": "{symbol} deleted in the work tree",
    "unreadable": "{path} cannot be read as a file",
    "not_recorded": "how {path} was when this was learnt is not known",
    "no_fingerprint": "{path} has no fingerprint to compare with",
    "other_version": "its fingerprint is of another version",
    "unknown_language": "the language of {path} is not known",
    "not_parsed": "{path} is not parsed: {detail}",
    "syntax_error": "{path} has a syntax error in {detail}",
    "syntax_error_around": "{path} has a syntax error around {symbol}",
    "hidden_by_syntax_error": "{path} has a syntax error and {symbol} is not found in it",
    "no_time": "{symbol} is not in {path}; there was no time to look for it",
    "no_time_to_compare": "{path} changed since; there was no time to look closer",
    "not_compared": "{path} could not be compared: {detail}",
    "no_clone": "there is no code here; a clone of the repository can tell",
    "no_folder": "the project's folder does not exist",
    "other_project": "recorded in another project",
    "other_branch": "recorded on another branch{detail}",
    "unknown_commit": "git does not know commit {detail} it was recorded at",
}
"""Every reason for a verdict with the words for a person."""


def verdict_words(verdict: Verdict) -> str:
    """Say what changed: `signature: timeout added`, `moved to …; body changed`; empty when nothing changed."""
    anchor = verdict.anchor
    text = REASONS[verdict.reason].format(path=anchor.path, symbol=anchor.symbol, detail=verdict.detail)
    return "; ".join(filter(None, (verdict.where, text)))
