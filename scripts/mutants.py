"""Finds the single decisions of a Python file that can be changed: numbers, comparisons, guards, returned values.

`find_mutants` is pure: source text in, mutants out. Docstrings, messages, annotations, decorators, `__repr__` and
blocks for type checkers are left alone: nothing there decides anything. So are the numbers that a module keeps under a
name: they are tuned, and a test of one would only repeat it.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
EXTREMES = {"min": "max", "max": "min"}
EMPTY = {
    "str": '""', "int": "0", "float": "0.0", "bytes": 'b""', "tuple": "()", "list": "[]", "Sequence": "()",
    "Iterable": "()", "Iterator": "iter(())", "Collection": "()", "dict": "{}", "Mapping": "{}", "set": "set()",
    "frozenset": "frozenset()",
}  # fmt: skip
"""By the outermost word of a function's return annotation: what it returns when its value is emptied."""
WORDS_CALLS = frozenset({"warn", "warning", "debug", "info", "exception", "tell", "progress"})
"""Calls whose arguments are words for a log or a person."""


@dataclass(frozen=True)
class Mutant:
    """One change of one place, and where the tests that may notice it are found."""

    path: str
    line: int
    kind: str
    before: str
    after: str
    source_line: str
    """The line's text without indentation: names the place when the lines above move."""
    lines: tuple[int, int]
    """Lines whose tests reach the change: the expression's, or a function's for its default values."""
    names: frozenset[str]
    """For what runs at import: the constant's name, or the class's. Empty inside a function."""
    span: tuple[int, int] = field(repr=False)
    """Bytes of the file that are replaced."""

    def applied(self, source: bytes) -> bytes:
        """The file with this change."""
        return source[: self.span[0]] + self.after.encode() + source[self.span[1] :]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What stays the same when lines are added above."""
        return self.path, self.source_line, self.before, self.after


def find_closed_sets(sources: list[str]) -> dict[str, str]:
    """For each word of a Literal[...] in these sources: the word that follows it there."""
    following: dict[str, str] = {}
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("Literal", "typing.Literal"):
                words = [item.value for item in ast.walk(node.slice) if isinstance(item, ast.Constant)]
                texts = [word for word in words if isinstance(word, str)]
                for word, other in zip(texts, texts[1:] + texts[:1], strict=True):
                    following.setdefault(word, other)
    return {word: other for word, other in following.items() if word != other}


def find_mutants(path: str, source: str, following: dict[str, str]) -> list[list[Mutant]]:
    """The places that can be changed, each with its one or more changes that still compile."""
    finder = _Finder(path, source, following)
    finder.visit(ast.parse(source))
    compiling = [[mutant for mutant in place if _compiles(mutant, finder.encoded)] for place in finder.places]
    return [place for place in compiling if place]


def _compiles(mutant: Mutant, encoded: bytes) -> bool:
    try:
        compile(mutant.applied(encoded), mutant.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


class _Finder(ast.NodeVisitor):
    """Walks a file and collects the changes of each place."""

    def __init__(self, path: str, source: str, following: dict[str, str]) -> None:
        self.path, self.following = path, following
        self.encoded = source.encode()
        self.source_lines = source.splitlines()
        self.starts = [0]
        for line in self.encoded.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.places: list[list[Mutant]] = []
        self.functions: list[ast.FunctionDef] = []
        self.names: frozenset[str] = frozenset()
        self.lines: tuple[int, int] | None = None

    def _add(self, node: ast.expr, kind: str, *replacements: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        before = ast.unparse(node)
        at_import = frozenset() if self.functions or self.lines else self.names
        span = (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )
        place = [
            Mutant(
                self.path, node.lineno, kind, before, after, self.source_lines[node.lineno - 1].strip(),
                self.lines or (node.lineno, node.end_lineno), at_import, span,
            )
            for after in dict.fromkeys(replacements)
            if ast.dump(ast.parse(after)) != ast.dump(ast.parse(before))
        ]  # fmt: skip
        if place:
            self.places.append(place)

    # Statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in ("__repr__", "__str__"):
            return
        before = self.lines
        self.lines = (node.body[0].lineno, node.body[-1].end_lineno or node.lineno)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self.lines = before
        self.functions.append(node)
        self._visit_body(node.body)
        self.functions.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        before, self.names = self.names, self.names | {node.name}
        self._visit_body(node.body)
        self.names = before

    def _visit_body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_assigned(node.targets, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._visit_assigned([node.target], node.value)

    def _visit_assigned(self, targets: list[ast.expr], value: ast.expr) -> None:
        if self.functions:
            self.visit(value)
            return
        before = self.names
        assigned = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        if "TYPE_CHECKING" in assigned:
            return
        self.names = self.names | assigned
        self.visit(value)
        self.names = before

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            self._visit_body(node.orelse)
            return
        leaves = isinstance(node.body[-1], ast.Return | ast.Continue | ast.Break | ast.Raise)
        if len(node.body) == 1 and leaves and not node.orelse:
            self._add(node.test, "guard", "False")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._add(condition, "guard", "True")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        empty = _empty_value(self.functions[-1].returns, node.value)
        if empty is not None:
            self._add(node.value, "return", empty)
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Its words are for a person; that it raises at all is its guard's mutant."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """For readers and type checkers."""

    # Expressions

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text with values in it; its parts have no places of their own in Python 3.11."""

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name in WORDS_CALLS:
            return
        if name in EXTREMES and isinstance(function, ast.Name):
            self._add(function, "extreme", EXTREMES[name])
        for part in (function, *node.args, *(word.value for word in node.keywords if word.arg != "strict")):
            self.visit(part)  # zip's `strict` is an assertion

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[place] = COMPARISONS[type(operator)]()
            self._add(node, "comparison", f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, "boolean", f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not", f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add(node, "constant", str(not value))
        elif isinstance(value, int | float) and not self.functions and self.names and not self.lines:
            return
        elif isinstance(value, int):
            self._add(node, "constant", *(f"({number})" for number in (value * 2, value + 1, value - 1, 0)))
        elif isinstance(value, float):
            self._add(node, "constant", *(f"({number})" for number in (value * 2, value / 2, 0.0)))
        elif isinstance(value, str) and value in self.following:
            self._add(node, "word", repr(self.following[value]))


def _empty_value(annotation: ast.expr | None, value: ast.expr) -> str | None:
    """What to return instead of a value, by the annotation; None where that cannot be told or is the value itself."""
    if annotation is None:
        return None
    words = ast.unparse(annotation)
    if words == "bool":
        return None if isinstance(value, ast.Constant) else f"(not ({ast.unparse(value)}))"
    if "None" in words.split(" | "):
        return None if isinstance(value, ast.Constant) and value.value is None else "None"
    empty = EMPTY.get(words.partition("[")[0])
    return None if empty == ast.unparse(value) else empty
