"""PHP. A namespace is not part of a name: it says where the file is."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.trait
(enum_declaration name: (name) @name) @definition.enum

(function_definition name: (name) @name) @definition.function
(method_declaration name: (name) @name) @definition.method
(property_declaration (property_element name: (variable_name (name) @name)) (property_hook_list) @body)
  @definition.method

(const_declaration (const_element . (name) @name . "=" . (_) @body)) @definition.constant
(function_call_expression function: (name) @_define arguments: (arguments . (argument) @name . (argument) @body)
  (#eq? @_define "define")) @definition.constant

"""

MEMBERS = """
(property_declaration (property_element (variable_name) @name)) @definition.field
(property_promotion_parameter name: (_) @name) @definition.field
(enum_case name: (name) @name value: (_)? @body) @definition.field
"""

LANGUAGE = Language(
    name="php",
    suffixes=(".php", ".phtml", ".php8", ".php7", ".php5"),
    grammar_module="tree_sitter_php",
    grammar_function="language_php",
    query=QUERY,
    members=MEMBERS,
    strings=("string", "encapsed_string", "heredoc", "nowdoc", "shell_command_expression"),
    expanding=("\\", "$"),
    indented=("heredoc", "nowdoc"),
    decorators=("attribute_list",),
)
