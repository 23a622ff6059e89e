"""JavaScript, with JSX."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._ecmascript import CLASS, COMMON, FUNCTION, PLAIN, named_values

QUERY = f"""
{COMMON}
{named_values(PLAIN)}
(class_declaration name: (identifier) @name) @definition.class
(field_definition property: (_) @name value: {FUNCTION}) @definition.function
(field_definition property: (_) @name value: {CLASS}) @definition.class
"""

COMPOUND = (
    "binary_expression", "ternary_expression", "assignment_expression", "augmented_assignment_expression",
    "unary_expression", "update_expression", "sequence_expression", "await_expression", "yield_expression",
    "new_expression", "arrow_function",
)  # fmt: skip
"""Expressions whose extent counts, so that parentheses need not."""

LANGUAGE = Language(
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    grammar_module="tree_sitter_javascript",
    query=QUERY,
    ignored=("comment", "html_comment", "hash_bang_line", ";"),
    strings=("string",),
    exact=("string_fragment", "regex"),
    prose=("jsx_text",),
    quoted_names=("pair", "method_definition", "field_definition", "public_field_definition", "property_signature"),
    alike_quotes=True,
    blocks=COMPOUND,
    grouping=("parenthesized_expression", "formal_parameters"),
    hollow=("new_expression>arguments",),
    wrappers=("export_statement",),
    decorators=("decorator",),
)
