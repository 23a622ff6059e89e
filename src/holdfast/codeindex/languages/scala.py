"""Scala 2 and 3. A package is not part of a name, since it says where the file is; a package object is part of it."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name) @definition.class
(package_object name: (_) @name) @definition.class
(trait_definition name: (_) @name) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(given_definition name: (_) @name) @definition.class
(type_definition name: (_) @name) @definition.type
(extension_definition parameters: (parameters) @declarator) @scope

(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function
(val_definition (modifiers) @_lazy pattern: (identifier) @name value: (_) @body (#match? @_lazy "lazy"))
  @definition.function
(val_definition pattern: (identifier) @name value: (_) @body (#match? @name "^[A-Z]")) @definition.constant @top

"""

MEMBERS = """
(template_body (val_definition pattern: (identifier) @name value: (_) @body) @definition.field)
(template_body (var_definition pattern: (identifier) @name value: (_) @body) @definition.field)
(class_parameter name: (identifier) @name) @definition.field
(enum_body (enum_case_definitions (simple_enum_case name: (identifier) @name)) @definition.field)
"""

LANGUAGE = Language(
    name="scala",
    suffixes=(".scala", ".sc", ".sbt"),
    grammar_module="tree_sitter_scala",
    query=QUERY,
    members=MEMBERS,
    ignored=("comment", "block_comment", ";"),
    strings=("string", "interpolated_string", "interpolated_string_expression", "character_literal"),
    blocks=("indented_block", "indented_cases"),
    decorators=("annotation",),
    top_level=("template_body", "with_template_body", "enum_body", "compilation_unit"),
    name_fields=("type",),
    name_wrappers=("parameters",),
)
