"""Python."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(function_definition name: (identifier) @name) @definition.function
(class_definition name: (identifier) @name) @definition.class
(module (expression_statement (assignment left: (identifier) @name right: (_) @body)) @definition.constant
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
(type_alias_statement left: (type (identifier) @name)) @definition.type

"""

MEMBERS = """
(class_definition body: (block (expression_statement
  (assignment left: (identifier) @name right: (_)? @body)) @definition.field))
(module (expression_statement (assignment left: (identifier) @name right: (_)? @body)) @definition.field)
"""

TUPLE_PARENTS = (
    "assignment", "augmented_assignment", "return_statement", "delete_statement", "yield", "for_statement",
    "for_in_clause",
)  # fmt: skip

LANGUAGE = Language(
    name="python",
    suffixes=(".py", ".pyi", ".pyw"),
    grammar_module="tree_sitter_python",
    query=QUERY,
    members=MEMBERS,
    ignored=("comment", "line_continuation", ";", "pass_statement"),
    alike_quotes=True,
    joined_strings=("concatenated_string",),
    annotations=("type",),
    declarations=("assignment",),
    no_op_statements=("expression_statement",),
    blocks=("block",),
    parenthesised=("parenthesized_expression",),
    grouping=("import_from_statement", "with_clause"),
    loose_parents=(
        "with_item", "return_statement", "assignment", "augmented_assignment",
        "if_statement", "elif_clause", "while_statement", "for_statement", "for_in_clause", "if_clause",
        "assert_statement", "raise_statement", "delete_statement", "expression_statement", "await", "yield",
        "argument_list", "keyword_argument", "default_parameter", "typed_default_parameter", "list", "set", "tuple",
        "pair", "subscript", "parenthesized_expression", "decorator", "except_clause", "lambda",
        "list_comprehension", "set_comprehension", "generator_expression",
    ),
    optional_brackets=tuple(f"{parent}>{node}" for parent in TUPLE_PARENTS for node in ("tuple", "tuple_pattern")),
    empty_nodes=("class_definition>argument_list",),
    sole_comma=("tuple", "tuple_pattern", "expression_list", "pattern_list", "subscript"),
    wrappers=("decorated_definition",),
    decorators=("decorator",),
)  # fmt: skip
