"""Kotlin. A companion's members belong to the class, as in code: `Store.make`. An extension is named for its type."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class_declaration "interface" name: (identifier) @name) @definition.interface
(class_declaration (modifiers) @_enum "class" name: (identifier) @name (#match? @_enum "\\\\benum$"))
  @definition.enum
(class_declaration "class" name: (identifier) @name) @definition.class
(object_declaration name: (identifier) @name) @definition.class
(companion_object name: (identifier) @name) @definition.class
(type_alias type: (identifier) @name) @definition.type
(enum_entry (identifier) @name (class_body)) @scope

(function_declaration [(user_type) (nullable_type)] @owner . "." . name: (identifier) @name) @definition.method
(function_declaration name: (identifier) @name) @definition.function
(secondary_constructor "constructor" @name) @definition.method
(anonymous_initializer "init" @name) @definition.method

(property_declaration [(user_type) (nullable_type)] @owner . "." . (variable_declaration) @declarator
  [(getter) (setter)]) @definition.method
(property_declaration (variable_declaration) @declarator [(getter) (setter) (property_delegate)]) @definition.method
(property_declaration (modifiers) @_const (variable_declaration) @declarator "=" . (_) @body
  (#match? @_const "\\\\bconst\\\\b")) @definition.constant

"""

MEMBERS = """
(class_body (property_declaration (variable_declaration (identifier) @name)) @definition.field)
(class_parameter ["val" "var"] (identifier) @name) @definition.field
(enum_entry (identifier) @name) @definition.field
"""

LANGUAGE = Language(
    name="kotlin",
    suffixes=(".kt", ".kts"),
    grammar_module="tree_sitter_kotlin",
    query=QUERY,
    members=MEMBERS,
    ignored=("line_comment", "block_comment", ";"),
    strings=("string_literal", "multiline_string_literal", "character_literal"),
    decorators=("annotation",),
    body_nodes=("class_body", "enum_class_body", "function_body", "block", "getter", "setter", "property_delegate"),
    name_wrappers=("variable_declaration",),
    parameter_lists=("function_value_parameters", "class_parameters"),
)
