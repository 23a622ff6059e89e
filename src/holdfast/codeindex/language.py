"""Language: what the code index has to know of a programming language, as data.

A language is one file, `languages/<name>.py`, with `LANGUAGE = Language(...)`, and its golden cases. Nothing else
in the package names a language.

The query (tree-sitter's pattern language) uses these captures:

- `@definition.<kind>`: the whole node of a definition; kind is one of `KINDS`. A function directly inside a
  definition or scope that has members (a class, an `impl`, …) becomes a method by itself.
- `@name`: its name node, in the same pattern.
- `@declaration.<kind>`: the same for what is only declared: left out when the file has a definition of that name.
- `@value`: optional; what the name is bound to, which tells the kind by `value_kinds`. Only a
  `constant` or a `type` is bound to anything else, and a `constant` to nothing of those kinds.
- `@declarator`: in place of `@name`; the name lies within, below `name_fields`.
- `@top` on a node: the match counts only when that node is directly in one of `top_level`.
- `@owner`: optional; what it belongs to when that is not around it (Go's receiver, C++'s `Foo::`).
- `@body`: optional; its body, or the pieces of it, when the grammar has no field of `body_fields` on the definition.
- `@scope` with `@name`: a node that qualifies the names inside without being a definition (Rust's `impl`,
  C#'s `namespace`).
- `@import` with `@module` (or the pieces of it) and any number of `@imported`: an import, what it names, and the
  names taken from it.
"""

from __future__ import annotations

from holdfast.lean.records import Frozen

KINDS = (
    "function", "method", "class", "interface", "struct", "enum", "trait", "module", "type", "constant", "field",
    "test",
)  # fmt: skip
"""Kinds of definitions; `field` and `test` are those that only the `members` query finds."""

UNINDEXED_KINDS = frozenset({"field", "test"})
"""Definitions of the `members` query."""

MEMBER_KINDS = frozenset({"class", "interface", "struct", "enum", "trait"})
"""Definitions whose functions are methods."""

CONTAINER_KINDS = MEMBER_KINDS | {"module"}
"""Definitions that consist of definitions: what is defined in them has its own fingerprint and is no part of theirs."""


class Language(Frozen):
    """One language. Node types are the grammar's; anonymous ones (`;`) may be named like any other."""

    name: str
    """As in `Outline.language`; the module's name."""
    suffixes: tuple[str, ...]
    """Ends of file names, with the dot, lower case. Two languages never share one."""
    grammar_module: str
    """The grammar's Python package, imported only when a file of this language is parsed."""
    query: str
    members: str = ""
    """A second query, with the same captures, for what can be anchored and is not indexed: fields and blocks of tests.

    What it finds lends its name to other tests in it alone, and stays part of the fingerprint of what is around it.
    """
    grammar_function: str = "language"
    """The function in that package that gives the grammar."""
    filenames: tuple[str, ...] = ()
    """Whole file names without a telling end, e.g. `Rakefile`."""
    masked: str = ""
    """A regular expression whose groups are blanked out before parsing: macros that the grammar trips over."""
    ignored: tuple[str, ...] = ("comment",)
    """Nodes that are no part of any fingerprint: comments, optional semicolons, line continuations.

    As `parent>node`, only directly in that parent.
    """
    strings: tuple[str, ...] = ("string",)
    """Nodes that are one token, whatever is inside."""
    exact: tuple[str, ...] = ()
    """Nodes that are one token just as written, with the space at their ends: the text in a template string."""
    unparsed: tuple[str, ...] = ()
    """Nodes of code that the grammar keeps as text, e.g. a C macro's: split into words and signs, comments dropped."""
    prose: tuple[str, ...] = ()
    """Nodes of text in which any layout counts as a space: JSX."""
    spaces: tuple[str, ...] = ()
    """Nodes that mean nothing when they hold but a literal space or comments: JSX's `{" "}`."""
    quoted_names: tuple[str, ...] = ()
    """Nodes whose first child, a string, is a name that needs no quotes: `{"a": 1}` in JavaScript."""
    alike_quotes: bool = False
    """`'a'` and `"a"` mean the same."""
    opening: tuple[str, ...] = ()
    """Nodes of code within a string that make it more than one token: a shell's `"$(…)"`."""
    expanding: tuple[str, ...] = ()
    """What means something in `"…"` and not in `'…'`: a string without any of it means the same in either."""
    indented: tuple[str, ...] = ()
    """Strings of several lines that may be indented as a whole, as Ruby's `<<~`."""
    joined_strings: tuple[str, ...] = ()
    """Nodes of adjacent string literals that the compiler joins."""
    annotations: tuple[str, ...] = ()
    """Nodes of type annotations: left out of the bare half of a fingerprint."""
    typed: tuple[str, ...] = ()
    """Nodes whose annotations are what they are about (TypeScript's interfaces): there they are left out of nothing."""
    declarations: tuple[str, ...] = ()
    """Nodes that, with a type and without a value, only annotate, unless directly in a class: Python's `x: int`."""
    annotation_marks: tuple[str, ...] = (":", "->")
    """Tokens directly before an annotation that go with it, where the grammar keeps them outside of it."""
    idle_statements: tuple[str, ...] = ()
    """Statement nodes that, holding nothing but a string or an ellipsis, do nothing: Python's docstrings."""
    blocks: tuple[str, ...] = ()
    """Nodes whose extent only the layout shows (indentation): their ends count as tokens."""
    compounds: tuple[str, ...] = ()
    """Nodes of expressions whose extent counts as tokens, so that parentheses around them need not."""
    chained: tuple[str, ...] = ()
    """Operators of compounds that mean the same however a chain of them is grouped: `&&`."""
    parenthesised: tuple[str, ...] = ()
    """Nodes of an expression in parentheses."""
    loose_parents: tuple[str, ...] = ()
    """Nodes in which a `parenthesised` node means the same without its parentheses."""
    loose_brackets: tuple[str, ...] = ()
    """Nodes whose own brackets may go when they are directly in that parent, as `parent>node`: `return (a, b)`."""
    grouping: tuple[str, ...] = ()
    """Nodes whose own parentheses change nothing: Python's `from a import (b, c)`."""
    loose_blocks: tuple[str, ...] = ()
    """Nodes whose own braces change nothing when they hold one thing: Rust's `=> { x }`; as `parent>node`."""
    hollow: tuple[str, ...] = ()
    """Nodes that mean nothing when they have only brackets, e.g. Python's `class A():`; as `parent>node`."""
    ended_alike: tuple[str, ...] = ()
    """Nodes after which a semicolon changes nothing: Rust's `return x;`."""
    sole_comma: tuple[str, ...] = ()
    """Nodes in which the one trailing comma means something: a tuple of one."""
    wrappers: tuple[str, ...] = ()
    """Nodes around a definition that belong to its head: decorators, `export`, templates."""
    lone_wrappers: tuple[str, ...] = ()
    """Wrappers only around a definition that is alone in them: `const a = …`, but not `const a = …, b = …`."""
    top_level: tuple[str, ...] = ()
    """Nodes whose children stand at the top level of a file; see `@top`."""
    attributes: tuple[str, ...] = ()
    """Nodes before a definition, beside it, that belong to its head: Rust's `#[…]`."""
    decorators: tuple[str, ...] = ()
    """Nodes of a single decorator or attribute in a head: told in words when they come or go."""
    modifiers: tuple[str, ...] = ()
    """Nodes of a modifier, or of all modifiers with decorators among them: named in words when they come or go."""
    body_fields: tuple[str, ...] = ("body",)
    body_nodes: tuple[str, ...] = ()
    """Nodes directly in a definition that are its body, or a piece of it, where the grammar has no field for it."""
    parameter_fields: tuple[str, ...] = ("parameters",)
    parameter_lists: tuple[str, ...] = ()
    """Nodes that hold parameters where the grammar has no field for it: a list, or the definition itself."""
    value_kinds: tuple[tuple[str, str], ...] = ()
    """The kind of definition that binding a name to a node makes: functions and classes as values."""
    imports_namespaces: bool = False
    """An import names a namespace and nothing in it: which of its files are meant, the words of the source say."""
    dull_values: tuple[str, ...] = ()
    """Nodes that make no constant."""
    silent_owners: tuple[str, ...] = ()
    """Parts of an owner that are no part of the name: `exports`, `prototype`."""
    name_fields: tuple[str, ...] = ()
    """Fields that lead from a declarator to the name within."""
    name_wrappers: tuple[str, ...] = ()
    """Nodes that lead there by their only child."""
    callable_declarators: tuple[str, ...] = ()
    """Declarators of functions, when they are the innermost around a name."""
    callable_names: tuple[str, ...] = ()
    """Names that a function may have without such a declarator around: C++'s `operator int`."""
    default_fields: tuple[str, ...] = ("value", "default_value", "right")
    """Fields of a parameter that hold its default."""
    parameter_names: tuple[str, ...] = ("name", "pattern", "left", "declarator")
    """Fields of a parameter that hold its name; without any, its first identifier is its name."""
