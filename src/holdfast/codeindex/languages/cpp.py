"""C++, and headers of C: their names do not distinguish them, and nearly all of C is C++."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._cfamily import NAME_WRAPPERS, QUERY, TOP_LEVEL, VALUE_KINDS
from holdfast.codeindex.languages.c import MEMBERS

MACROS = (
    # `class EXPORT Name {` reads as a function otherwise
    r"\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9_]*(?:\([^()\n]*\))?)[ \t]+(?=[A-Za-z_]\w*(?:\s+final)?\s*[:{])"
    # marks for Clang's thread safety analysis
    r"|\b((?:[A-Z]+_)?(?:(?:PT_)?GUARDED_(?:BY|VAR)|(?:EXCLUSIVE_|SHARED_)?LOCKS_(?:REQUIRED|EXCLUDED)"
    r"|(?:EXCLUSIVE_|SHARED_)?(?:TRY|UN)?LOCK_FUNCTION|(?:SCOPED_)?LOCKABLE|NO_THREAD_SAFETY_ANALYSIS)"
    r"(?:\([^()\n]*\))?)(?=[ \t]*[;{=,)\n]|[ \t]+[A-Za-z_])"
    # `extern "C" {` and its end, each for C++ only
    r"|#[ \t]*if(?:def)?[ \t][^\n]*__cplusplus[^\n]*\n\s*(extern\s+\"C\"\s*\{|\}[^\n]*)\s*(?=#[ \t]*endif)"
)

MORE = """
(namespace_definition name: (_) @name) @definition.module
(class_specifier name: (_) @name body: (_)) @definition.class
(alias_declaration name: (_) @name type: (_) @body) @definition.type
(concept_definition name: (_) @name) @definition.trait
(declaration declarator: (reference_declarator) @declarator) @declaration.constant @top
(declaration declarator: (_) @declarator) @declaration.function @top
(field_declaration declarator: (_) @declarator) @declaration.function
"""

LANGUAGE = Language(
    name="cpp",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".h"),
    grammar_module="tree_sitter_cpp",
    query=QUERY + MORE,
    members=MEMBERS,
    masked=MACROS,
    ignored=("comment",),
    strings=("string_literal", "char_literal", "raw_string_literal", "system_lib_string"),
    joined_strings=("concatenated_string",),
    unparsed=("preproc_arg",),
    wrappers=("template_declaration",),
    decorators=("attribute_declaration", "attribute_specifier"),
    value_kinds=(*VALUE_KINDS, ("class_specifier", "class")),
    top_level=(*TOP_LEVEL, "field_declaration_list", "template_declaration"),
    name_fields=("declarator",),
    name_wrappers=NAME_WRAPPERS,
    callable_declarators=("function_declarator",),
    callable_names=("operator_cast", "qualified_identifier"),
)
