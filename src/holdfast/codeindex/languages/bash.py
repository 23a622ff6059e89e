"""Bash, and the POSIX shell."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(function_definition name: (word) @name) @definition.function
(program (variable_assignment name: (variable_name) @name value: (_)? @body
  (#match? @name "^_*[A-Z][A-Z0-9_]*$")) @definition.constant)
(program (declaration_command ["readonly" "declare" "typeset" "export"]
  (variable_assignment name: (variable_name) @name value: (_)? @body)
  (#match? @name "^_*[A-Z][A-Z0-9_]*$")) @definition.constant)

"""

LANGUAGE = Language(
    name="bash",
    suffixes=(".sh", ".bash"),
    filenames=(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
    grammar_module="tree_sitter_bash",
    query=QUERY,
    # `function f {` and `f() {` are one
    ignored=("comment", ";", "function_definition>function"),
    grouping=("function_definition",),
    strings=("string", "raw_string", "ansi_c_string", "translated_string", "heredoc_body", "concatenation", "regex"),
    exact=("string_content",),
    opening=("command_substitution", "process_substitution"),
    expanding=("\\", "$", "`", "!"),
    # only the ends of lines tell `a b` from `a; b`
    compounds=("command", "declaration_command", "unset_command"),
)
