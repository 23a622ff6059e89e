"""C#. A namespace is not part of a name: it says where the file is, and its two notations mean the same."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type

(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(destructor_declaration name: (identifier) @name) @definition.method
(local_function_statement name: (identifier) @name) @definition.function
(operator_declaration operator: _ @name) @definition.method
(conversion_operator_declaration type: (_) @name) @definition.method

(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @definition.method
(property_declaration name: (identifier) @name accessors: (accessor_list) @body
  (#match? @body "(?s)^.+?(=>|[{])")) @definition.method
(indexer_declaration "this" @name accessors: (accessor_list) @body) @definition.method
(indexer_declaration "this" @name value: (_) @body) @definition.method
(event_declaration name: (identifier) @name accessors: (accessor_list) @body) @definition.method

(field_declaration (modifier) @_is
  (variable_declaration . (_) . (variable_declarator name: (_) @name "=" (_) @body))
  (#eq? @_is "const")) @definition.constant
(field_declaration (modifier) @_is (modifier) @_also
  (variable_declaration . (_) . (variable_declarator name: (_) @name "=" (_) @body))
  (#eq? @_is "static") (#eq? @_also "readonly")) @definition.constant

"""

MEMBERS = """
(property_declaration name: (identifier) @name accessors: (_)? @body) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(enum_member_declaration name: (identifier) @name value: (_)? @body) @definition.field
"""

LANGUAGE = Language(
    name="csharp",
    suffixes=(".cs", ".csx"),
    grammar_module="tree_sitter_c_sharp",
    query=QUERY,
    members=MEMBERS,
    ignored=("comment", "preproc_region", "preproc_endregion", "preproc_pragma"),
    strings=("string_literal", "verbatim_string_literal", "raw_string_literal", "character_literal",
             "interpolated_string_expression"),
    indented=("raw_string_literal",),
    decorators=("attribute_list",),
    modifiers=("modifier",),
)  # fmt: skip
