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

(import_statement source: (string) @module) @import
(import_statement (import_clause (identifier) @imported) source: (string) @module) @import
(import_statement (import_clause (named_imports (import_specifier name: (_) @imported)))
  source: (string) @module) @import
(export_statement source: (string) @module) @import
(export_statement (export_clause (export_specifier name: (_) @imported)) source: (string) @module) @import
(call_expression function: (import) arguments: (arguments . (string) @module)) @import
(call_expression function: (identifier) @_require arguments: (arguments . (string) @module)
  (#eq? @_require "require")) @import
(variable_declarator name: (object_pattern [
    (shorthand_property_identifier_pattern) @imported (pair_pattern key: (property_identifier) @imported)
  ]) value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module))
  (#eq? @_require "require")) @import
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
