"""Constants of the team server: lengths, days and rates, each with its unit."""

from __future__ import annotations

# Tokens and sign-in

TOKEN_DAYS = 365
"""Days for which a token holds if nobody says otherwise."""
SESSION_HOURS = 12
"""Hours for which a signed-in browser's token holds while the person does nothing."""
SESSION_DAYS = 7
"""Days after which a person has to sign in again, whatever they did."""
SESSION_RENEWED_S = 600
"""Seconds between two prolongations of a browser's token."""
INVITATION_DAYS = 7
"""Days for which an invitation holds if nobody says otherwise."""
KEPT_DAYS = 90
"""Days for which an invitation or a token stays listed after its end."""
LAST_USE_S = 60
"""Seconds between two notes of a token's last use."""
ATTEMPT_MINUTES = 15
"""Minutes that an identity provider has to answer, and over which failed sign-ins are counted."""
FAILURES_MOST = 10
"""Failed sign-ins of one address in ATTEMPT_MINUTES, after which it waits for the next ones."""
ANSWER_HOURS = 24
"""Hours for which the answer to a request with an idempotency key is kept."""

# Limits

BURST_S = 10
"""Seconds of a rate that may be used at once."""
BUCKETS_MOST = 10_000
"""Callers of which a worker remembers the rate; the full buckets go first."""
NAME_LENGTH = 200
"""Characters of a name."""
ID_LENGTH = 300
"""Characters of a project's id, and of its remote."""
NOTE_LENGTH = 1_000
"""Characters of a flag's note."""
MEMBERS_MOST = 1_000
"""Members of a team, and teams of a project."""
CODEOWNERS_BYTES = 3_000_000
"""Bytes of a CODEOWNERS file; GitHub does not load a larger one."""
COUNTER_DAYS = 2
"""Days for which a day's counters are kept."""

# Audit

FAULTS_SHOWN = 20
"""Faults of an audit log that one check names."""
SWAPS_TRIED = 100
"""Changed entries among which swapped ones are looked for."""
