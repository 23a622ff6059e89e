"""JavaScript, with JSX."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._ecmascript import QUERY as COMMON
from holdfast.codeindex.languages._ecmascript import SILENT_OWNERS, TESTS, VALUE_KINDS

QUERY = f"""
{COMMON}
(class_declaration name: (identifier) @name) @definition.class
(field_definition property: (_) @name value: (_) @value) @definition.function
"""

MEMBERS = f"""
{TESTS}
(field_definition property: (_) @name value: (_)? @body) @definition.field
"""

COMPOUND = (
    "binary_expression", "ternary_expression", "assignment_expression", "augmented_assignment_expression",
    "unary_expression", "update_expression", "sequence_expression", "await_expression", "yield_expression",
    "new_expression", "arrow_function",
)  # fmt: skip
"""Expressions whose extent counts, so that parentheses need not count."""

LANGUAGE = Language(
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    grammar_module="tree_sitter_javascript",
    query=QUERY,
    members=MEMBERS,
    ignored=("comment", "html_comment", "hash_bang_line", ";"),
    strings=("string",),
    exact=("string_fragment", "regex"),
    prose=("jsx_text",),
    quoted_names=("pair", "method_definition", "field_definition", "public_field_definition", "property_signature"),
    alike_quotes=True,
    spaces=("jsx_expression",),
    chained=("&&", "||", "??"),
    compounds=COMPOUND,
    grouping=("parenthesized_expression", "formal_parameters"),
    empty_nodes=("new_expression>arguments",),
    wrappers=("export_statement",),
    value_kinds=VALUE_KINDS,
    ignorable_values=("identifier",),
    silent_owners=SILENT_OWNERS,
    lone_wrappers=("lexical_declaration",),
    top_level=("program", "export_statement"),
    decorators=("decorator",),
)
