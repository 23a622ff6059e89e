"""Go."""

from __future__ import annotations

from holdfast.codeindex.language import Language

RECEIVER_TYPES = """[
  (type_identifier) @owner
  (pointer_type (type_identifier) @owner)
  (generic_type type: (type_identifier) @owner)
  (pointer_type (generic_type type: (type_identifier) @owner))
  (parenthesized_type (pointer_type (type_identifier) @owner))
]"""

PLAIN = """(expression_list . [
  (identifier) (selector_expression) (composite_literal) (call_expression) (binary_expression) (unary_expression)
  (interpreted_string_literal) (raw_string_literal) (int_literal) (float_literal) (imaginary_literal) (rune_literal)
  (true) (false) (nil) (iota) (type_conversion_expression) (type_assertion_expression) (index_expression)
  (slice_expression) (parenthesized_expression) (type_instantiation_expression)
])"""
"""Values that are not functions."""

FUNCTION = "(expression_list . (func_literal body: (_) @body) .)"


def _variables(place: str) -> str:
    """Return the patterns for a package's variables at that place."""
    return "\n".join((
        place.format(f"(var_spec name: (identifier) @name value: {FUNCTION}) @definition.function"),
        place.format(f"(var_spec name: (identifier) @name value: {PLAIN} @body) @definition.constant"),
        place.format("(var_spec !value name: (identifier) @name) @definition.constant"),
    ))  # fmt: skip


QUERY = f"""
(function_declaration name: (identifier) @name) @definition.function
(method_declaration receiver: (parameter_list (parameter_declaration type: {RECEIVER_TYPES}))
  name: (field_identifier) @name) @definition.function

(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type) @body) @definition.interface
(type_spec name: (type_identifier) @name type: [
  (type_identifier) (pointer_type) (map_type) (slice_type) (array_type) (channel_type) (function_type)
  (qualified_type) (generic_type) (parenthesized_type)
] @body) @definition.type
(type_alias name: (type_identifier) @name type: (_) @body) @definition.type
(interface_type (method_elem name: (field_identifier) @name) @definition.method)

(source_file (const_declaration (const_spec name: (identifier) @name value: (_) @body) @definition.constant))
(source_file (const_declaration (const_spec !value name: (identifier) @name) @definition.constant))
{_variables("(source_file (var_declaration {}))")}
{_variables("(source_file (var_declaration (var_spec_list {})))")}

"""

MEMBERS = """
(field_declaration name: (field_identifier) @name) @definition.field
"""

LANGUAGE = Language(
    name="go",
    suffixes=(".go",),
    grammar_module="tree_sitter_go",
    query=QUERY,
    members=MEMBERS,
    # Go's grammar reads the end of a line as a semicolon
    ignored=("comment", ";"),
    strings=("interpreted_string_literal", "raw_string_literal", "rune_literal"),
)
