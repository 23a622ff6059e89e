"""`python -m tests.hosts.refresh`: rewrite the expected results; a person reviews the difference."""

from __future__ import annotations

from tests.hosts.golden import ROOT, cases, refresh

if __name__ == "__main__":
    for case in cases():
        if refresh(case):
            print(case.relative_to(ROOT))
