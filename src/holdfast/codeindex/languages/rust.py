"""Rust."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(function_item name: (_) @name) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(mod_item name: (identifier) @name body: (_)) @definition.module
(type_item name: (type_identifier) @name type: (_) @body) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(const_item name: (identifier) @name value: (_)? @body) @definition.constant
(static_item name: (identifier) @name value: (_)? @body) @definition.constant
(macro_definition name: (identifier) @name . (macro_rule)+ @body) @definition.function

(impl_item type: [
  (type_identifier) @name
  (generic_type type: (_) @name)
  (scoped_type_identifier name: (_) @name)
  (primitive_type) @name
  (tuple_type) @name
  (array_type) @name
  (pointer_type) @name
  (function_type) @name
  (dynamic_type) @name
  (unit_type) @name
  (reference_type type: [
    (type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier name: (_) @name)
    (primitive_type) @name (array_type) @name (dynamic_type) @name (tuple_type) @name
  ])
]) @scope

"""

MEMBERS = """
(field_declaration name: (field_identifier) @name) @definition.field
(enum_variant name: (identifier) @name) @definition.field
"""

LANGUAGE = Language(
    name="rust",
    suffixes=(".rs",),
    grammar_module="tree_sitter_rust",
    query=QUERY,
    members=MEMBERS,
    ignored=("line_comment", "block_comment", "match_arm>,", "where_clause>,", "declaration_list>use_declaration"),
    strings=("string_literal", "raw_string_literal", "char_literal"),
    optional_braces=("match_arm>block", "closure_expression>block"),
    ended_alike=("return_expression", "break_expression", "continue_expression"),
    sole_comma=("tuple_expression", "tuple_pattern", "tuple_type"),
    attributes=("attribute_item",),
    decorators=("attribute_item",),
    modifiers=("visibility_modifier", "function_modifiers"),
)
