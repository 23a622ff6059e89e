"""Java."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(enum_constant name: (identifier) @name body: (_)) @scope
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(constant_declaration declarator: (variable_declarator name: (identifier) @name value: (_)? @body))
  @definition.constant
(field_declaration (modifiers "static" "final")
  declarator: (variable_declarator name: (identifier) @name value: (_)? @body)) @definition.constant
(field_declaration (modifiers "final" "static")
  declarator: (variable_declarator name: (identifier) @name value: (_)? @body)) @definition.constant

"""

MEMBERS = """
(field_declaration declarator: (variable_declarator name: (identifier) @name value: (_)? @body)) @definition.field
(enum_constant name: (identifier) @name arguments: (_)? @body) @definition.field
"""

LANGUAGE = Language(
    name="java",
    suffixes=(".java",),
    grammar_module="tree_sitter_java",
    query=QUERY,
    members=MEMBERS,
    ignored=(
        "line_comment",
        "block_comment",
        "class_body>;",
        "interface_body>;",
        "enum_body>,",
        "enum_body_declarations>;",
    ),
    strings=("string_literal", "character_literal"),
    decorators=("annotation", "marker_annotation"),
    modifiers=("modifiers",),
)
