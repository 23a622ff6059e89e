"""Holds what C and C++ share."""

from __future__ import annotations

QUERY = """
(preproc_def name: (identifier) @name value: (_) @body) @definition.constant
(preproc_function_def name: (identifier) @name value: (_)? @body) @definition.function

(function_definition declarator: (_) @declarator) @definition.function
(declaration declarator: (init_declarator declarator: (_) @declarator value: (_) @body)) @definition.constant @top
(declaration declarator: [
  (identifier) (pointer_declarator) (array_declarator) (function_declarator)
] @declarator) @declaration.constant @top

(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.struct
(enum_specifier name: (_) @name body: (_)) @definition.enum
(type_definition type: (_) @value declarator: (_) @declarator) @definition.type
"""

TOP_LEVEL = ("translation_unit", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "declaration_list")
NAME_WRAPPERS = ("parenthesized_declarator", "reference_declarator", "attributed_declarator")
VALUE_KINDS = (("struct_specifier", "struct"), ("union_specifier", "struct"), ("enum_specifier", "enum"))
