"""`python -m tests.codeindex.refresh`: rewrite the expected outlines; a person reviews the difference."""

from __future__ import annotations

from tests.codeindex.golden import ROOT, cases, refresh

if __name__ == "__main__":
    for case in cases():
        if refresh(case):
            print(case.relative_to(ROOT))
