"""Ruby. Methods of `class << self` and `def self.` are named like the others: `Store.make`."""

from __future__ import annotations

from holdfast.codeindex.language import Language

QUERY = """
(class name: (_) @name) @definition.class
(module name: (_) @name) @definition.module
(assignment left: (constant) @name right: (call) @body
  (#match? @body "^(Struct|Class|Module|Data)[.](new|define)")) @definition.class
(assignment left: (constant) @name right: (_) @body
  (#not-match? @body "^(Struct|Class|Module|Data)[.](new|define)")) @definition.constant

(method name: (_) @name) @definition.method
(singleton_method name: (_) @name) @definition.method
(call method: (identifier) @_definer arguments: (argument_list . (_) @name) block: (_) @body
  (#match? @name "^[:'\\"]") (#any-of? @_definer "define_method" "define_singleton_method")) @definition.method

(call !receiver method: (identifier) @_require arguments: (argument_list (string) @module .)
  (#any-of? @_require "require" "require_relative" "load" "autoload")) @import
"""

LANGUAGE = Language(
    name="ruby",
    suffixes=(".rb", ".rake", ".gemspec", ".ru", ".podspec"),
    filenames=("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Fastfile", "Brewfile"),
    grammar_module="tree_sitter_ruby",
    query=QUERY,
    ignored=("comment", ";"),
    strings=("string", "subshell", "regex", "heredoc_body", "delimited_symbol", "string_array",
             "symbol_array", "character"),
    expanding=("\\", "#{", "#@", "#$"),
    indented=("heredoc_body",),
    # where they are, `f a` and `f(a)` are one; their ends tell `f a` from `f; a`
    grouping=("argument_list", "method_parameters", "parameters"),
    compounds=("argument_list", "method_parameters"),
    wrappers=("argument_list", "call"),
)  # fmt: skip
