"""Resolves imports of languages whose imports name files: Python, JavaScript and TypeScript, C, Rust, Ruby, shells.

A rule gets the files, the importing path and one import as written, and yields it once for each file it leads to.
"""

from __future__ import annotations

import os
import sys

from holdfast.codeindex.filetree import FileTree, above, folder_of, join
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.domain.symbol import Import

SCRIPTS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".json")
COMPILED = (".js", ".jsx", ".mjs", ".cjs")
"""Endings that TypeScript's imports use although the file beside has an ending of TypeScript."""

C_STANDARD = frozenset(
    f"{name}.h" for name in (
        "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale", "math",
        "setjmp", "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time", "wchar",
        "unistd", "fcntl", "pthread", "windows",
    )
)  # fmt: skip
MOST_PARTS = 64
"""Modules that one grouped Rust import is taken apart into."""


def unique_end(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the file beside, or the only file whose path ends in the written text."""
    target = tree.first([join(folder_of(path), imported.module)]) or tree.unique_end(imported.module)
    if target:
        yield replace(imported, target=target)


def python(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield a module's file; names imported from a package that are modules lead to their own files."""
    dots = len(imported.module) - len(imported.module.lstrip("."))
    inside = imported.module[dots:].replace(".", "/")
    if dots:
        start = join(folder_of(path), "/".join([".."] * (dots - 1)))
        roots = [start] if start or dots == 1 or folder_of(path).count("/") == dots - 2 else []
    else:
        roots = _python_roots(tree, path, inside.partition("/")[0])
    for root in roots:
        resolved = list(_python_module(tree, join(root, inside), imported))
        if resolved:
            yield from resolved
            return


def _python_module(tree: FileTree, module: str, imported: Import) -> Iterator[Import]:
    rest = []
    for name in imported.names:
        target = tree.first(_python_files(join(module, name)))
        if target:
            yield replace(imported, names=(name,), target=target)
        else:
            rest.append(name)
    whole = tree.first(_python_files(module))
    if whole and (rest or not imported.names):
        yield replace(imported, names=tuple(rest), target=whole)


def _python_files(module: str) -> tuple[str, ...]:
    if not module:
        return ("__init__.py",)
    return (f"{module}.py", f"{module}/__init__.py", f"{module}.pyi", f"{module}/__init__.pyi")


def _python_roots(tree: FileTree, path: str, first: str) -> list[str]:
    """Return where a top-level module may be, best first: the file's own import root, then the usual places."""
    if "python roots" not in tree.kept:
        known = {_python_root(tree, file) for file in tree.paths if file.endswith((".py", ".pyi"))}
        tree.kept["python roots"] = sorted(known, key=lambda root: (root.count("/"), root))
    own = _python_root(tree, path)
    roots = [own, *(root for root in above(own + "/x") if root != own), "src", "lib"]
    if first in sys.stdlib_module_names:
        return roots[:1]
    others = [root for root in tree.kept["python roots"] if root not in roots and _holds(tree, root, first)]
    return roots + (others if len(others) == 1 else [])


def _python_root(tree: FileTree, path: str) -> str:
    """Return the folder that contains the file's outermost package."""
    folder = folder_of(path)
    while folder and f"{folder}/__init__.py" in tree.paths:
        folder = folder_of(folder)
    return folder


def _holds(tree: FileTree, root: str, module: str) -> bool:
    return bool(tree.first(_python_files(join(root, module))))


def javascript(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the file of a relative path (endings and index files may be omitted), a tsconfig path or a package."""
    module = imported.module.partition("?")[0]
    if module.startswith("."):
        target = _script(tree, join(folder_of(path), module))
    else:
        target = _aliased(tree, path, module) or _workspace_package(tree, module)
    if target:
        yield replace(imported, target=target)


def _script(tree: FileTree, path: str) -> str:
    stem, end = os.path.splitext(path)
    written = [f"{stem}{suffix}" for suffix in (".ts", ".tsx", ".mts", ".cts")] if end in COMPILED else []
    return tree.first(
        [path, *written, *(path + suffix for suffix in SCRIPTS), *(join(path, "index" + suffix) for suffix in SCRIPTS)]
    )


def _aliased(tree: FileTree, path: str, module: str) -> str:
    config = tree.nearest(path, "tsconfig.json") or tree.nearest(path, "jsconfig.json")
    if not config:
        return ""
    where, options = _compiler_options(tree, config, 4)
    start = join(where, str(options.get("baseUrl") or "."))
    paths = options.get("paths")
    for pattern, targets in (paths if isinstance(paths, dict) else {}).items():
        before, star, after = pattern.partition("*")
        fits = module.startswith(before) and module.endswith(after) if star else module == pattern
        if not fits or not isinstance(targets, list):
            continue
        middle = module[len(before) : len(module) - len(after)] if star else ""
        for target in targets:
            script = _script(tree, join(start, str(target).replace("*", middle)))
            if script:
                return script
    return _script(tree, join(start, module)) if "baseUrl" in options else ""


def _compiler_options(tree: FileTree, config: str, depth: int) -> tuple[str, dict[str, Any]]:
    """Return the folder to which paths are relative, and the options, of a configuration or the one it extends."""
    configuration = tree.json(config)
    options = configuration.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    extends = configuration.get("extends")
    if "paths" not in options and "baseUrl" not in options and isinstance(extends, str) and depth:
        base = join(folder_of(config), extends)
        parent = tree.first([base, base + ".json"]) if extends.startswith(".") else ""
        if parent:
            return _compiler_options(tree, parent, depth - 1)
    return folder_of(config), options


def _workspace_package(tree: FileTree, module: str) -> str:
    """Return the entry, or the file inside, of a package whose package.json is in this repository."""
    if "js packages" not in tree.kept:
        files = tree.by_file.get("package.json", ())
        packages = {str(tree.json(file).get("name") or ""): folder_of(file) for file in sorted(files, reverse=True)}
        tree.kept["js packages"] = packages
    parts = module.split("/")
    size = 2 if module.startswith("@") else 1
    folder = tree.kept["js packages"].get("/".join(parts[:size]))
    if folder is None or not parts[0]:
        return ""
    rest = "/".join(parts[size:])
    if rest:
        return _script(tree, join(folder, rest)) or _script(tree, join(folder, "src/" + rest))
    main = str(tree.json(join(folder, "package.json")).get("main") or "index")
    return _script(tree, join(folder, "src/index")) or _script(tree, join(folder, main))


def c(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield an included file: beside, in an include folder at or above, or the only one that ends so."""
    near = (join(folder, part + imported.module) for folder in above(path) for part in ("", "include/", "src/"))
    target = tree.first([join(folder_of(path), imported.module)])
    if not target and imported.module not in C_STANDARD:
        target = tree.first(near) or tree.unique_end(imported.module)
    if target:
        yield replace(imported, target=target)


def rust(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the file of the innermost module on the path, within the crate or another crate of the repository."""
    for module in taken_apart(imported.module, "::"):
        target = _rust_file(tree, path, [part.strip() for part in module.split("::") if part.strip()])
        if target:
            yield replace(imported, target=target)


def _rust_file(tree: FileTree, path: str, parts: list[str]) -> str:
    if not parts:
        return ""
    folder, first = _rust_folder(path), parts[0]
    if first == "crate":
        return _rust_module(tree, _crate_root(tree, path), parts[1:])
    if first == "self":
        return _rust_module(tree, folder, parts[1:])
    while parts and parts[0] == "super":
        folder, parts = folder_of(folder), parts[1:]
    if first == "super":
        return _rust_module(tree, folder, parts)
    crates = _crates(tree)
    if first in crates:
        return _rust_module(tree, join(crates[first], "src"), parts[1:])
    child = tree.first(_rust_files(folder, first))
    return _rust_module(tree, folder, parts) if child else ""


def _rust_folder(path: str) -> str:
    """Return the folder of the submodules of a file's module."""
    stem = path.removesuffix(".rs")
    return folder_of(path) if stem.rpartition("/")[2] in ("mod", "lib", "main", "build") else stem


def _crate_root(tree: FileTree, path: str) -> str:
    """Return the folder of the crate's root file: `src` beside the manifest, or the folder of a separate `main.rs`."""
    package = folder_of(tree.nearest(path, "Cargo.toml"))
    for folder in above(path):
        if folder == package:
            break
        if tree.first(join(folder, name) for name in ("lib.rs", "main.rs")):
            return folder
    part = path[len(package) :].strip("/").split("/")[0]
    return join(package, part if part in ("tests", "benches", "examples") else "src")


def _rust_module(tree: FileTree, folder: str, parts: list[str]) -> str:
    """Return the file of the longest prefix of the parts that is a module, otherwise of the folder's own module."""
    for size in range(len(parts), 0, -1):
        target = tree.first(_rust_files(folder, "/".join(parts[:size])))
        if target:
            return target
    return tree.first([f"{folder}.rs", *(join(folder, name) for name in ("mod.rs", "lib.rs", "main.rs"))])


def _rust_files(folder: str, module: str) -> tuple[str, str]:
    return join(folder, module + ".rs"), join(folder, module + "/mod.rs")


def _crates(tree: FileTree) -> dict[str, str]:
    """Return the folders of the repository's crates by the name used in imports."""
    if "crates" not in tree.kept:
        folders = {}
        for file in sorted(tree.by_file.get("Cargo.toml", ())):
            name = _toml_name(tree.read(file).decode("utf-8", "replace"))
            folders[name.replace("-", "_")] = folder_of(file)
        folders.pop("", None)
        tree.kept["crates"] = folders
    crates: dict[str, str] = tree.kept["crates"]
    return crates


def _toml_name(text: str) -> str:
    """Return `name` from the table `[package]`."""
    table = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            table = line
        elif table == "[package]" and line.partition("=")[0].strip() == "name":
            return line.partition("=")[2].strip().strip("\"'")
    return ""


def taken_apart(module: str, between: str, depth: int = 8) -> list[str]:
    """Return `a::b` and `a::c::d` for `a::{b, c::d}`; aliases (`as x`) and `*` are dropped."""
    start, brace, rest = module.partition("{")
    if not brace or depth == 0:
        return [module.partition(" as ")[0].removesuffix(between + "*").removesuffix(between + "_")]
    modules = []
    for part in _split_outside(rest.removesuffix("}")):
        modules += taken_apart(start + part.strip(), between, depth - 1)
    return modules[:MOST_PARTS]


def _split_outside(text: str) -> list[str]:
    """Return the parts between commas outside of braces."""
    parts, depth, begun = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(text[begun:at])
            begun = at + 1
    return [part for part in [*parts, text[begun:]] if part.strip()]


def ruby(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield a file beside, on a load path (`lib`, `app/…`) at or above, or the only one that ends so."""
    file = imported.module if imported.module.endswith(".rb") else imported.module + ".rb"
    near = (join(folder, part + file) for folder in above(path) for part in ("lib/", "", "spec/", "test/"))
    target = tree.first([join(folder_of(path), file)]) or tree.first(near)
    if not target and "/" in imported.module:
        target = tree.unique_end(file)
    if target:
        yield replace(imported, target=target)


def shell(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield a sourced file: without `$HERE/` and the like, beside, from the root, or the only one of that name."""
    file = imported.module.replace('"', "").replace("'", "")
    for opening, closing in (("$(", ")/"), ("${", "}/"), ("$", "/"), ("`", "`/")):
        if file.startswith(opening) and closing in file:
            file = file.rpartition(closing)[2] if opening != "$" else file.partition(closing)[2]
            break
    if not file or "$" in file or file.startswith("/"):
        return
    target = tree.first([join(folder_of(path), file), join("", file)]) or tree.unique_end(file)
    if target:
        yield replace(imported, target=target)
