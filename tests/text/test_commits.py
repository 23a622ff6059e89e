"""The commits of a session, and their subjects: by git's own output, else by the message of the command."""

from __future__ import annotations

import pytest

from holdfast.testing.builders import make_event
from holdfast.text.commits import commits_in


@pytest.mark.parametrize(
    ("command", "output", "subject"),
    [
        ("git commit -m 'Add a zone'", "[main 1a2b3c4] Add a zone\n 1 file changed", "Add a zone"),
        ("git commit -qam 'Add a zone'", "", "Add a zone"),
        ("git add -A && git commit -q -m 'Add a zone'", "", "Add a zone"),
        ("git commit --message 'Add a zone' --quiet", "", "Add a zone"),
        ("git commit -q --amend --no-edit", "", ""),
    ],
)
def test_the_subject_of_a_commit(command: str, output: str, subject: str) -> None:
    event = make_event(kind="tool_result", tool="Bash", command=command, text=output, exit_code=0)
    assert [named for _, named in commits_in([event])] == [subject]
