"""C; headers are read as C++."""

from __future__ import annotations

from holdfast.codeindex.language import Language
from holdfast.codeindex.languages._cfamily import NAME_WRAPPERS, QUERY, TOP_LEVEL, VALUE_KINDS

MEMBERS = """
(field_declaration declarator: (_) @declarator) @definition.field
(enumerator name: (identifier) @name value: (_)? @body) @definition.field
"""

LANGUAGE = Language(
    name="c",
    suffixes=(".c",),
    grammar_module="tree_sitter_c",
    query=QUERY,
    members=MEMBERS,
    # marks of the Linux kernel's functions and values
    masked=r"\b(__(?:init|exit|initdata|cold|hot|user|kernel|iomem|percpu|rcu|must_check|always_inline|sched|weak|pure"
    r"|ro_after_init|read_mostly|maybe_unused)|noinline|asmlinkage)\b",
    ignored=("comment",),
    strings=("string_literal", "char_literal", "system_lib_string"),
    joined_strings=("concatenated_string",),
    unparsed=("preproc_arg",),
    decorators=("attribute_specifier",),
    value_kinds=VALUE_KINDS,
    top_level=TOP_LEVEL,
    name_fields=("declarator",),
    name_wrappers=NAME_WRAPPERS,
    callable_declarators=("function_declarator",),
)
