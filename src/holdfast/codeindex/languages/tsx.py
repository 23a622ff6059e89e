"""TypeScript with JSX."""

from __future__ import annotations

from dataclasses import replace

from holdfast.codeindex.languages.typescript import LANGUAGE as TYPESCRIPT

LANGUAGE = replace(TYPESCRIPT, name="tsx", suffixes=(".tsx",), grammar_function="language_tsx")
