"""What JavaScript and TypeScript have in common."""

from __future__ import annotations

FUNCTION = """[
  (function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)
  (parenthesized_expression [(function_expression body: (_) @body) (arrow_function body: (_) @body)])
]"""
"""A function as a value."""

CLASS = "(class body: (_) @body)"

PLAIN = """[
  (object) (array) (string) (template_string) (number) (regex) (true) (false) (null) (call_expression)
  (new_expression) (await_expression) (member_expression) (identifier) (unary_expression) (binary_expression)
  (ternary_expression) (subscript_expression)
]"""
"""A value that is neither a function nor a class."""

COMMON = f"""
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(method_definition name: [(property_identifier) (private_property_identifier) (number)] @name) @definition.function
(method_definition name: (string (string_fragment) @name)) @definition.function
(method_definition name: (computed_property_name (_) @name)) @definition.function
(export_statement "default" @name value: {FUNCTION}) @definition.function
(export_statement "default" @name value: {CLASS}) @definition.class
(export_statement "default" @name value: [(object) (call_expression) (new_expression)] @body) @definition.constant

(pair key: (property_identifier) @name value: {FUNCTION}) @definition.function
(pair key: (string (string_fragment) @name) value: {FUNCTION}) @definition.function
(pair key: (property_identifier) @name value: (object)) @scope

(assignment_expression left: (identifier) @name right: {FUNCTION}) @definition.function
(assignment_expression left: (member_expression object: (identifier) @_object property: (property_identifier) @name)
  right: {FUNCTION} (#match? @_object "^(module|exports|window|globalThis|self)$")) @definition.function
(assignment_expression left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: {FUNCTION} (#not-match? @owner "^(module|exports|window|globalThis|self)$")) @definition.function
(assignment_expression left: (member_expression object: (this) property: (_) @name)
  right: {FUNCTION}) @definition.function
(assignment_expression left: (member_expression
    object: (member_expression object: (_) property: (property_identifier) @_middle) property: (_) @name)
  right: {FUNCTION} (#eq? @_middle "exports")) @definition.function
(assignment_expression left: (member_expression
    object: (member_expression object: (_) @owner property: (property_identifier) @_middle) property: (_) @name)
  right: {FUNCTION} (#eq? @_middle "prototype")) @definition.method
(assignment_expression left: [(identifier) @name (member_expression property: (property_identifier) @name)]
  right: {CLASS}) @definition.class

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

CONST_FORMS = (
    '(lexical_declaration "const" . (variable_declarator {what}) .) {capture}',
    '(lexical_declaration "const" (variable_declarator {what}) {capture} . (variable_declarator))',
    '(lexical_declaration "const" (variable_declarator) . (variable_declarator {what}) {capture})',
)
"""A `const` that declares one name, and the declarators of one that declares several."""

OTHER_FORMS = (
    '(lexical_declaration "let" (variable_declarator {what}) {capture})',
    "(variable_declaration (variable_declarator {what}) {capture})",
)

NO_IMPORT = '(#not-match? @body "^(require|import)[ (]")'


def named_values(plain: str) -> str:
    """Patterns for functions and classes bound to a name anywhere, and for plain constants at a module's top."""
    rows = []
    for form in CONST_FORMS + OTHER_FORMS:
        rows.append(form.format(what=f"name: (identifier) @name value: {FUNCTION}", capture="@definition.function"))
        rows.append(form.format(what=f"name: (identifier) @name value: {CLASS}", capture="@definition.class"))
    for form in CONST_FORMS:
        constant = form.format(what=f"name: (identifier) @name value: {plain} @body", capture="@definition.constant")
        rows += [f"(program {constant} {NO_IMPORT})", f"(program (export_statement {constant}) {NO_IMPORT})"]
    return "\n".join(rows)
