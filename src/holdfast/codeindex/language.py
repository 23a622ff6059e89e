"""Describes, as data, what the code index needs to know about a programming language.

A language is one file, `languages/<name>.py`, with `LANGUAGE = Language(...)`, and its golden cases. Nothing else
in the package names a language.

The query (tree-sitter's pattern language) uses these captures:

- `@definition.<kind>`: the whole node of a definition; kind is one of `KINDS`. A function directly inside a
  definition or scope that has members (a class, an `impl`, …) becomes a method by itself.
- `@name`: its name node, in the same pattern.
- `@declaration.<kind>`: the same for what is only declared: left out when the file has a definition of that name.
- `@value`: optional; what the name is bound to, which decides the kind by `value_kinds`. Only a
  `constant` or a `type` is bound to anything else, and a `constant` to nothing of those kinds.
- `@declarator`: in place of `@name`; the name lies within, below `name_fields`.
- `@top` on a node: the match counts only when that node is directly in one of `top_level`.
- `@owner`: optional; what it belongs to when that is not around it (Go's receiver, C++'s `Foo::`).
- `@body`: optional; its body, or the pieces of it, when the grammar has no field of `body_fields` on the definition.
- `@scope` with `@name`: a node that qualifies the names inside without being a definition (Rust's `impl`,
  C#'s `namespace`).
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "function", "method", "class", "interface", "struct", "enum", "trait", "module", "type", "constant", "field",
    "test",
)  # fmt: skip
"""Kinds of definitions; `field` and `test` are those that only the `members` query finds."""

UNINDEXED_KINDS = frozenset({"field", "test"})
"""Kinds that the `members` query finds; they can be anchored but are not indexed."""

MEMBER_KINDS = frozenset({"class", "interface", "struct", "enum", "trait"})
"""Definitions whose functions are methods."""

CONTAINER_KINDS = MEMBER_KINDS | {"module"}
"""Kinds that consist of definitions. These have their own fingerprints and do not count in their container's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language. Node types are the grammar's; anonymous ones (`;`) can be named like any other."""

    name: str
    """As in `Outline.language`; the module's name."""
    suffixes: tuple[str, ...]
    """Ends of file names, with the dot, lower case. Two languages never share one."""
    grammar_module: str
    """The grammar's Python package, imported only when a file of this language is parsed."""
    query: str
    members: str = ""
    """A second query, with the same captures, for what can be anchored but is not indexed: fields and blocks of tests.

    A test that it finds qualifies only the tests inside it. All finds stay part of the fingerprint around them.
    """
    grammar_function: str = "language"
    """The function in that package that returns the grammar."""
    filenames: tuple[str, ...] = ()
    """Whole names of files without a known ending, e.g. `Rakefile`."""
    masked: str = ""
    """A regular expression whose groups are blanked out before parsing: macros that the grammar trips over."""
    ignored: tuple[str, ...] = ("comment",)
    """Nodes that do not count in any fingerprint: comments, optional semicolons, line continuations.

    In the form `parent>node`, only directly in that parent.
    """
    strings: tuple[str, ...] = ("string",)
    """Nodes that are one token, whatever they contain."""
    exact: tuple[str, ...] = ()
    """Nodes that are one token exactly as written, including space at their ends: the text in a template string."""
    unparsed: tuple[str, ...] = ()
    """Nodes of code that the grammar keeps as text, e.g. a C macro's; split into words and signs, without comments."""
    prose: tuple[str, ...] = ()
    """Nodes of text in which any layout counts as a space: JSX."""
    spaces: tuple[str, ...] = ()
    """Nodes that mean nothing if they hold only a literal space or comments: JSX's `{" "}`."""
    quoted_names: tuple[str, ...] = ()
    """Nodes whose first child, a string, is a name that needs no quotes: `{"a": 1}` in JavaScript."""
    alike_quotes: bool = False
    """`'a'` and `"a"` mean the same."""
    opening: tuple[str, ...] = ()
    """Nodes of code within a string that split it into several tokens: a shell's `"$(…)"`."""
    expanding: tuple[str, ...] = ()
    """Signs with a meaning in `"…"` but not in `'…'`; a string without them means the same in either."""
    indented: tuple[str, ...] = ()
    """Strings of several lines that may be indented as a whole, as Ruby's `<<~`."""
    joined_strings: tuple[str, ...] = ()
    """Nodes of adjacent string literals that the compiler joins."""
    annotations: tuple[str, ...] = ()
    """Nodes of type annotations: left out of the bare half of a fingerprint."""
    typed: tuple[str, ...] = ()
    """Nodes whose subject is their annotations (TypeScript's interfaces): there annotations always count."""
    declarations: tuple[str, ...] = ()
    """Nodes that, with a type and without a value, only annotate, unless directly in a class: Python's `x: int`."""
    annotation_marks: tuple[str, ...] = (":", "->")
    """Tokens directly before an annotation that belong to it, if the grammar keeps them outside."""
    no_op_statements: tuple[str, ...] = ()
    """Statement nodes that do nothing if they hold only a string or an ellipsis: Python's docstrings."""
    blocks: tuple[str, ...] = ()
    """Nodes whose extent only the layout shows (indentation): their ends count as tokens."""
    compounds: tuple[str, ...] = ()
    """Nodes of expressions whose extent counts as tokens, so that parentheses around them need not count."""
    chained: tuple[str, ...] = ()
    """Operators of compounds whose chains mean the same however they are grouped: `&&`."""
    parenthesised: tuple[str, ...] = ()
    """Nodes of an expression in parentheses."""
    loose_parents: tuple[str, ...] = ()
    """Nodes in which a `parenthesised` node means the same without its parentheses."""
    optional_brackets: tuple[str, ...] = ()
    """Nodes, as `parent>node`, whose own brackets mean nothing directly in that parent: `return (a, b)`."""
    grouping: tuple[str, ...] = ()
    """Nodes whose own parentheses change nothing: Python's `from a import (b, c)`."""
    optional_braces: tuple[str, ...] = ()
    """Nodes, as `parent>node`, whose braces mean nothing if they hold one thing: Rust's `=> { x }`."""
    empty_nodes: tuple[str, ...] = ()
    """Nodes, as `parent>node`, that mean nothing if they hold only brackets, e.g. Python's `class A():`."""
    ended_alike: tuple[str, ...] = ()
    """Nodes after which a semicolon changes nothing: Rust's `return x;`."""
    sole_comma: tuple[str, ...] = ()
    """Nodes in which a single trailing comma has a meaning: a tuple of one."""
    wrappers: tuple[str, ...] = ()
    """Nodes around a definition that belong to its head: decorators, `export`, templates."""
    lone_wrappers: tuple[str, ...] = ()
    """Wrappers that count only around a single definition: `const a = …`, but not `const a = …, b = …`."""
    top_level: tuple[str, ...] = ()
    """Nodes whose children are at the top level of a file; see `@top`."""
    attributes: tuple[str, ...] = ()
    """Nodes before a definition, beside it, that belong to its head: Rust's `#[…]`."""
    decorators: tuple[str, ...] = ()
    """Nodes of a single decorator or attribute in a head; words name their addition or removal."""
    modifiers: tuple[str, ...] = ()
    """Nodes of a modifier, or of all modifiers with decorators among them; words name additions and removals."""
    body_fields: tuple[str, ...] = ("body",)
    body_nodes: tuple[str, ...] = ()
    """Nodes directly in a definition that are its body, or a piece of it, if the grammar has no field for it."""
    parameter_fields: tuple[str, ...] = ("parameters",)
    parameter_lists: tuple[str, ...] = ()
    """Nodes that hold parameters if the grammar has no field for it: a list, or the definition itself."""
    value_kinds: tuple[tuple[str, str], ...] = ()
    """The kind of definition that results from binding a name to such a node: functions and classes as values."""
    ignorable_values: tuple[str, ...] = ()
    """Nodes that make no constant of a name bound to them."""
    silent_owners: tuple[str, ...] = ()
    """Parts of an owner that are not part of the name: `exports`, `prototype`."""
    name_fields: tuple[str, ...] = ()
    """Fields that lead from a declarator to the name within."""
    name_wrappers: tuple[str, ...] = ()
    """Nodes that lead to the name by their only child."""
    callable_declarators: tuple[str, ...] = ()
    """Declarators that make a function if they are the innermost around a name."""
    callable_names: tuple[str, ...] = ()
    """Names that a function may have without such a declarator around: C++'s `operator int`."""
    default_fields: tuple[str, ...] = ("value", "default_value", "right")
    """Fields of a parameter that hold its default."""
    parameter_names: tuple[str, ...] = ("name", "pattern", "left", "declarator")
    """Fields of a parameter that hold its name; without any, its first identifier is its name."""
