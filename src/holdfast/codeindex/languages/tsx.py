"""TypeScript with JSX."""

from __future__ import annotations

from holdfast.codeindex.languages.typescript import LANGUAGE as TYPESCRIPT
from holdfast.lean.records import replace

LANGUAGE = replace(TYPESCRIPT, name="tsx", suffixes=(".tsx",), grammar_function="language_tsx")
