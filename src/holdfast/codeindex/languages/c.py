"""C; headers are read as C++."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._cfamily import COMMON, functions, types, values

KINDS = {"struct_specifier": "struct", "union_specifier": "struct", "enum_specifier": "enum"}

LANGUAGE = Language(
    name="c",
    suffixes=(".c",),
    grammar_module="tree_sitter_c",
    query="\n".join((COMMON, functions("(identifier) @name"), types(KINDS), values())),
    ignored=("comment",),
    unparsed=("preproc_arg",),
    strings=("string_literal", "char_literal", "system_lib_string"),
)
