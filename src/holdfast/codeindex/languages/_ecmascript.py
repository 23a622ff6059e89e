"""Holds what JavaScript and TypeScript share."""

from __future__ import annotations

QUERY = """
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(method_definition name: (_) @name) @definition.function
(export_statement "default" @name value: (_) @value) @definition.function
(export_statement "default" @name value: (_) @value) @definition.constant

(variable_declarator name: (identifier) @name value: (_) @value) @definition.function
(lexical_declaration "const" (variable_declarator name: (identifier) @name value: (_) @value) @definition.constant
  (#not-match? @value "^(require|import)[ (]")) @top
(assignment_expression left: [(identifier) (member_expression)] @name right: (_) @value) @definition.function
(pair key: (_) @name value: (_) @value) @definition.function
(pair key: (property_identifier) @name value: (object)) @scope
(arguments (function_expression name: (identifier) @name) @definition.function)

"""

TESTS = r"""
(call_expression function: (_) @_block arguments: (arguments . [(string) (template_string)] @name
  [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#match? @_block "^(describe|context|suite|test|it|specify|bench)\\b")) @definition.test
"""

VALUE_KINDS = (
    ("function_expression", "function"), ("generator_function", "function"), ("arrow_function", "function"),
    ("class", "class"),
)  # fmt: skip

SILENT_OWNERS = ("module", "exports", "prototype", "this", "window", "globalThis", "self")
