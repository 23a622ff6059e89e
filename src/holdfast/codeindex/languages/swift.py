"""Swift. An extension lends its type's name to its members and is no definition of its own."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class_declaration declaration_kind: "class" name: (_) @name) @definition.class
(class_declaration declaration_kind: "actor" name: (_) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (_) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name) @scope
(protocol_declaration name: (_) @name) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type

(function_declaration name: _ @name) @definition.function
(protocol_function_declaration name: _ @name) @definition.method
(init_declaration name: _ @name) @definition.method
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration "subscript" @name) @definition.method

(property_declaration name: (_) @declarator computed_value: (_) @body) @definition.method
(property_declaration name: (_) @declarator (willset_didset_block) @body) @definition.method
(property_declaration name: (_) @declarator value: (call_expression) @body (#match? @body "^[{]")) @definition.method
(property_declaration (value_binding_pattern) @_let name: (_) @declarator value: (_) @body
  (#eq? @_let "let")) @definition.constant @top
(property_declaration (modifiers) @_static (value_binding_pattern) @_let name: (_) @declarator value: (_) @body
  (#match? @_static "\\\\bstatic\\\\b") (#eq? @_let "let")) @definition.constant

(import_declaration (identifier) @module) @import
"""

LANGUAGE = Language(
    name="swift",
    suffixes=(".swift",),
    grammar_module="tree_sitter_swift",
    query=QUERY,
    ignored=("comment", "multiline_comment", ";"),
    strings=("line_string_literal", "multi_line_string_literal", "raw_string_literal", "regex_literal"),
    decorators=("attribute",),
    top_level=("source_file",),
    name_fields=("bound_identifier",),
    body_nodes=("computed_property",),
    parameter_lists=(
        "function_declaration",
        "protocol_function_declaration",
        "init_declaration",
        "subscript_declaration",
    ),
)
