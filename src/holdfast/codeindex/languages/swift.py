"""Swift. An extension qualifies its members by its type's name, and is not a definition itself."""

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

((property_declaration) @definition.method @declarator
  (#match? @definition.method "^[^=]*[{]|^[^=]*=[^{]*[{]\\\\s*(willSet|didSet)\\\\b"))
((property_declaration) @definition.method @declarator
  (#match? @definition.method "^[^={]*\\\\blazy\\\\b[^={]*=\\\\s*[{]"))
((property_declaration) @definition.constant @declarator
  (#match? @definition.constant "^[^={]*\\\\bstatic\\\\b[^={]*\\\\blet\\\\b[^={]*="))
((property_declaration) @definition.constant @declarator @top
  (#match? @definition.constant "^[^={]*\\\\blet\\\\b[^={]*="))

"""

MEMBERS = """
(class_body (property_declaration) @definition.field @declarator)
(enum_entry name: (simple_identifier) @name) @definition.field
"""

LANGUAGE = Language(
    name="swift",
    suffixes=(".swift",),
    grammar_module="tree_sitter_swift",
    query=QUERY,
    members=MEMBERS,
    ignored=("comment", "multiline_comment", ";"),
    strings=("line_string_literal", "multi_line_string_literal", "raw_string_literal", "regex_literal"),
    indented=("multi_line_string_literal",),
    decorators=("attribute",),
    top_level=("source_file",),
    name_fields=("name", "bound_identifier"),
    body_fields=("body", "value"),
    body_nodes=("computed_property", "willset_didset_block"),
    parameter_lists=(
        "function_declaration",
        "protocol_function_declaration",
        "init_declaration",
        "subscript_declaration",
    ),
)
