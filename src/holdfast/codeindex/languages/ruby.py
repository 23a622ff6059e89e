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

"""

MEMBERS = """
(call method: (identifier) @_attribute arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_attribute "attr_reader" "attr_writer" "attr_accessor")) @definition.field
(alias name: (_) @name alias: (_) @body) @definition.field
(call method: (identifier) @_block arguments: (argument_list . (_) @name) block: (_) @body
  (#any-of? @_block "describe" "context" "it" "specify" "test" "feature" "scenario" "shared_examples"
    "shared_context" "should")) @definition.test
"""

LANGUAGE = Language(
    name="ruby",
    suffixes=(".rb", ".rake", ".gemspec", ".ru", ".podspec"),
    filenames=("Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Fastfile", "Brewfile"),
    grammar_module="tree_sitter_ruby",
    query=QUERY,
    members=MEMBERS,
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
