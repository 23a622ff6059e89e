"""C++, and headers of C: they are not told apart by name, and nearly all of C is C++."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._cfamily import COMMON, functions, prototypes, types, values

KINDS = {
    "struct_specifier": "struct",
    "union_specifier": "struct",
    "class_specifier": "class",
    "enum_specifier": "enum",
}

NAMES = """[
  (identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name
  (qualified_identifier) @name (template_function name: (identifier) @name)
]"""

QUERY = f"""
{COMMON}
(namespace_definition name: (_) @name) @definition.module
{functions(NAMES)}
{prototypes("[(identifier) @name (field_identifier) @name (operator_name) @name (destructor_name) @name]")}
(function_definition declarator: (operator_cast type: (_) @name)) @definition.function
(function_definition declarator: (qualified_identifier scope: (_) @owner name: (operator_cast type: (_) @name)))
  @definition.function
(alias_declaration name: (type_identifier) @name type: (_) @body) @definition.type
(concept_definition name: (identifier) @name) @definition.trait
{types(KINDS, "template_declaration")}
{values()}
"""

LANGUAGE = Language(
    name="cpp",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".h"),
    grammar_module="tree_sitter_cpp",
    query=QUERY,
    ignored=("comment",),
    unparsed=("preproc_arg",),
    strings=("string_literal", "char_literal", "raw_string_literal", "system_lib_string"),
    wrappers=("template_declaration",),
)
