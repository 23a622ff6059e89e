"""`Memory` binds its use cases twice, for type checkers and for Python: both lists must say the same."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module

from holdfast import bootstrap

BINDERS = {"_here": "_late", "_everywhere": "_late_everywhere"}


def test_both_lists_of_use_cases_say_the_same() -> None:
    tree = ast.parse(inspect.getsource(bootstrap))
    imported = {
        name.asname or name.name: f"{line.module}.{name.name}"
        for line in ast.walk(tree)
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
    memory = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Memory")
    lists = next(node for node in memory.body if isinstance(node, ast.If))
    checked, run = (dict(map(_bound, part)) for part in (lists.body, lists.orelse))
    assert list(checked) == list(run)
    for name, (binder, use_case) in checked.items():
        first, _, rest = use_case.partition(".")
        whole = f"{imported[first]}.{rest}" if rest else imported[first]
        module, _, function = whole.rpartition(".")
        assert run[name] == (BINDERS[binder], f"{module.removeprefix('holdfast.')}:{function}")
        assert callable(getattr(import_module(module), function))


def _bound(line: ast.stmt) -> tuple[str, tuple[str, str]]:
    assert isinstance(line, ast.Assign)
    assert isinstance(line.value, ast.Call)
    (argument,) = line.value.args
    text = str(argument.value) if isinstance(argument, ast.Constant) else ast.unparse(argument)
    return ast.unparse(line.targets[0]), (ast.unparse(line.value.func), text)
