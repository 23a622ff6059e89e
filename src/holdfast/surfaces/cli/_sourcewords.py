"""Words for what a lesson was found in. Detectors have ids such as `fail_fix/1`; some are of older versions."""

from __future__ import annotations

WORDS = {
    "answers": "the user's answer to a question",
    "code_comment": "a comment in the code",
    "commit_text": "a commit's message",
    "commands": "the commands of several sessions",
    "compaction_summary": "a summary before a compaction",
    "correction": "a correction by the user",
    "explicit": "the user asked to remember it",
    "exploration": "searches and reads of a session",
    "fail_fix": "a failure and its fix",
    "git_history": "a commit's message",
    "host_memory": "the host's own memory",
    "lint_rules": "a lint rule and its waiver",
    "red_green": "tests that failed and then passed",
    "reverted_work": "work that was reverted",
    "statements": "a sentence of the session",
}


def found_by(detector: str) -> str:
    """Return what a lesson was found in; a detector or importer without words here is named by its id."""
    name = detector.partition("/")[0]
    return WORDS.get(name, name.replace("_", " "))
