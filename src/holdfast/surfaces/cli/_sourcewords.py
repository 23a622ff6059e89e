"""Who found a lesson, in words: detectors and importers have ids such as `statements/1`."""

from __future__ import annotations

WORDS = {
    "answers": "the user's answer to a question",
    "code_comment": "a comment in the code",
    "commit_text": "a commit's message",
    "commands": "the commands of several sessions",
    "compaction_summary": "a summary before a compaction",
    "correction": "a correction by the user",
    "decision_record": "a decision record",
    "explicit": "the user asked to remember it",
    "exploration": "what was searched and read",
    "fail_fix": "a failure and what mended it",
    "git_history": "a commit's message",
    "host_memory": "the host's own memory",
    "lint_rules": "a lint rule and its waiver",
    "red_green": "tests that failed and then passed",
    "reverted_work": "work that was taken back",
    "rules_edit": "an edit of a rules file",
    "statements": "a sentence of the session",
}


def found_by(detector: str) -> str:
    """What a lesson was found in; of a detector or importer from outside its name, without the version."""
    name = detector.partition("/")[0]
    return WORDS.get(name, name.replace("_", " "))
