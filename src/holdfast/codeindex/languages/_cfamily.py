"""What C and C++ have in common. Their grammars put a function's name deep into nested declarators."""

from __future__ import annotations

TOP = ("translation_unit", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "declaration_list")
"""Nodes whose children stand at the top level of a file or a namespace."""

VALUE_DECLARATORS = """[
  (identifier) @name
  (pointer_declarator declarator: (identifier) @name)
  (array_declarator declarator: (identifier) @name)
  (array_declarator declarator: (array_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))
  (array_declarator declarator: (pointer_declarator declarator: (identifier) @name))
]"""

TYPE_DECLARATORS = """[
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  (pointer_declarator declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))
]"""

COMMON = """
(preproc_def name: (identifier) @name value: (_) @body) @definition.constant
(preproc_function_def name: (identifier) @name value: (_)? @body) @definition.function
(preproc_include path: [(string_literal) (system_lib_string)] @module) @import
"""


def functions(declarator: str) -> str:
    """Patterns for function definitions; `declarator` matches the inner part that holds the name."""
    function = f"(function_declarator declarator: {declarator})"
    nested = (
        function,
        f"(_ {function})",
        f"(_ (_ {function}))",
        f"(function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: {function})))",
    )
    return "\n".join(f"(function_definition declarator: {one}) @definition.function" for one in nested)


def prototypes(declarator: str) -> str:
    """Patterns for functions declared at the top level or in a class."""
    function = f"(function_declarator declarator: {declarator})"
    nested = (function, f"(_ {function})", f"(_ (_ {function}))")
    rows = [f"(field_declaration declarator: {one}) @declaration.function" for one in nested]
    places = (*TOP, "field_declaration_list", "template_declaration")
    rows += [f"({place} (declaration declarator: {one}) @declaration.function)" for place in places for one in nested]
    return "\n".join(rows)


def values() -> str:
    """Patterns for initialised values at the top level."""
    declarator = f"(init_declarator declarator: {VALUE_DECLARATORS} value: (_) @body)"
    return "\n".join(f"({top} (declaration declarator: {declarator}) @definition.constant)" for top in TOP)


def types(kinds: dict[str, str], *more_parents: str) -> str:
    """Patterns for structs and the like, by node and kind: named ones, and those a typedef names.

    A named one within a typedef is the typedef's: `typedef struct a {…} b` is `b`, as it is used.
    """
    rows = []
    parents = (*TOP, "declaration type:", "field_declaration type:", "compound_statement", *more_parents)
    for node, kind in kinds.items():
        one = f"({node} name: (_) @name body: (_) @body) @definition.{kind}"
        rows += [f"({parent} {one})" for parent in parents]
        rows.append(
            f"(type_definition type: ({node} body: (_) @body) declarator: {TYPE_DECLARATORS}) @definition.{kind}"
        )
    bare = "[(primitive_type) (sized_type_specifier) (type_identifier)" + "".join(f" ({node} !body)" for node in kinds)
    rows.append(f"(type_definition type: {bare}] @body declarator: {TYPE_DECLARATORS}) @definition.type")
    return "\n".join(rows)
