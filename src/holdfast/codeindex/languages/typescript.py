"""TypeScript."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._ecmascript import QUERY as COMMON
from holdfast.codeindex.languages._ecmascript import SILENT_OWNERS, TESTS, VALUE_KINDS
from holdfast.codeindex.languages.javascript import COMPOUND

QUERY = f"""
{COMMON}
(class_declaration name: (type_identifier) @name) @definition.class
(abstract_class_declaration name: (type_identifier) @name) @definition.class
(public_field_definition name: (_) @name value: (_) @value) @definition.function
(abstract_method_signature name: (_) @name) @definition.method
(class_body (method_signature name: (_) @name) @definition.method)
(interface_body (method_signature name: (_) @name) @definition.method)
(function_signature name: (identifier) @name) @definition.function
(interface_declaration name: (type_identifier) @name) @definition.interface
(type_alias_declaration name: (type_identifier) @name value: (_) @body) @definition.type
(enum_declaration name: (identifier) @name) @definition.enum
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module

"""

MEMBERS = f"""
{TESTS}
(public_field_definition name: (_) @name value: (_)? @body) @definition.field
(interface_body (property_signature name: (_) @name) @definition.field)
(type_alias_declaration value: (object_type (property_signature name: (_) @name) @definition.field))
(type_alias_declaration value: (object_type (method_signature name: (_) @name) @definition.field))
(type_alias_declaration value: (intersection_type (object_type (property_signature name: (_) @name) @definition.field)))
(enum_body (enum_assignment name: (_) @name value: (_) @body) @definition.field)
(enum_body (property_identifier) @name @definition.field)
"""

TYPES = (
    "type_identifier", "predefined_type", "generic_type", "nested_type_identifier", "union_type",
    "intersection_type", "object_type", "array_type", "tuple_type", "function_type", "constructor_type",
    "literal_type", "lookup_type", "conditional_type", "index_type_query", "type_query", "readonly_type",
    "parenthesized_type", "template_literal_type", "this_type", "infer_type",
)  # fmt: skip

LANGUAGE = Language(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    grammar_module="tree_sitter_typescript",
    grammar_function="language_typescript",
    query=QUERY,
    members=MEMBERS,
    ignored=("comment", "html_comment", "hash_bang_line", ";", "object_type>,", "interface_body>,", "union_type>|"),
    strings=("string",),
    exact=("string_fragment", "regex"),
    prose=("jsx_text",),
    quoted_names=("pair", "method_definition", "field_definition", "public_field_definition", "property_signature"),
    alike_quotes=True,
    annotations=(
        "type_annotation", "type_arguments", "type_parameters", "implements_clause", "asserts_annotation",
        "type_predicate_annotation", "opting_type_annotation", "omitting_type_annotation", "accessibility_modifier",
        "override_modifier", *TYPES,
    ),
    typed=("interface_declaration", "type_alias_declaration"),
    annotation_marks=("as", "satisfies"),
    spaces=("jsx_expression",),
    chained=("&&", "||", "??"),
    compounds=COMPOUND,
    grouping=("parenthesized_expression", "formal_parameters"),
    empty_nodes=("new_expression>arguments",),
    wrappers=("export_statement", "ambient_declaration"),
    value_kinds=VALUE_KINDS,
    ignorable_values=("identifier",),
    silent_owners=SILENT_OWNERS,
    lone_wrappers=("lexical_declaration",),
    top_level=("program", "export_statement"),
    attributes=("decorator",),
    decorators=("decorator",),
    modifiers=("accessibility_modifier", "override_modifier"),
)  # fmt: skip
