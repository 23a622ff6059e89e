"""Resolves imports of languages whose imports name packages or types, not files: Go, the JVM's, C#, PHP, Swift."""

from __future__ import annotations

from holdfast.codeindex.filetree import FileTree, folder_of, join
from holdfast.codeindex.importrules import taken_apart
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.symbol import Import

JVM = (".java", ".kt", ".scala", ".groovy", ".kts", ".sc")


def go(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the files of the package, found by the module paths of go.mod files, without its tests."""
    modules = _go_modules(tree)
    for module in sorted(modules, key=len, reverse=True):
        if imported.module == module or imported.module.startswith(module + "/"):
            folder = join(modules[module], imported.module[len(module) + 1 :])
            break
    else:
        return
    files = [file for file in tree.package(folder, (".go",)) if not file.endswith("_test.go")]
    own_name = f"{folder}/{folder.rpartition('/')[2]}.go"
    yield from _each(imported, files or [file for file in (own_name,) if file in tree.paths])


def _go_modules(tree: FileTree) -> dict[str, str]:
    """Return the folders of go.mod files by the module path they name."""
    if "go modules" not in tree.kept:
        tree.kept["go modules"] = {
            line.split()[1].strip('"'): folder_of(file)
            for file in sorted(tree.by_file.get("go.mod", ()))
            for line in tree.read(file).decode("utf-8", "replace").splitlines()
            if line.startswith("module ") and len(line.split()) > 1
        }
    modules: dict[str, str] = tree.kept["go modules"]
    return modules


def java(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the file of the class; for a member its class's file, for a whole package its files."""
    for module in taken_apart(imported.module, "."):
        wanted = [f"{module}.{name}" for name in imported.names if name not in ("*", "_")] or [module]
        for name in wanted:
            yield from _each(imported, _java_files(tree, name.removesuffix(".*").removesuffix("._")))


def _java_files(tree: FileTree, name: str) -> Sequence[str]:
    parts = name.split(".")
    for size in (len(parts), len(parts) - 1, len(parts) - 2):
        if size < 2:
            break
        files = [file for end in JVM if (file := tree.unique_end("/".join(parts[:size]) + end))]
        if files:
            return files[:1]
    folder = tree.unique_folder("/".join(parts)) if len(parts) > 1 else ""
    return tree.package(folder, JVM) if folder else ()


def csharp(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the namespace's files that are named like used types; without any, all of them if they are few.

    A namespace is found by the folder of its name, whose first part is often omitted on the disk. An import may also
    name a type: an alias, or `using static`.
    """
    _, alias, target_name = imported.module.partition("=")
    parts = (target_name.strip() if alias else imported.module).split(".")
    if parts[0] == "System":
        return
    folder = _csharp_folder(tree, parts)
    if not folder:
        target = tree.unique_end("/".join(parts[-2:]) + ".cs") if len(parts) > 1 else ""
        yield from _each(replace(imported, names=(parts[-1],)), [target] if target else [])
        return
    used = [f"{folder}/{name}.cs" for name in imported.names if f"{folder}/{name}.cs" in tree.paths]
    for file in used:
        yield replace(imported, names=(file.rpartition("/")[2].removesuffix(".cs"),), target=file)
    if not used:
        yield from _each(replace(imported, names=()), tree.package(folder, (".cs",)))


def _csharp_folder(tree: FileTree, parts: Sequence[str]) -> str:
    for start in range(min(3, len(parts))):
        dotted = ".".join(parts[: start + 1]) + "/" + "/".join(parts[start + 1 :]) if start else "/".join(parts)
        shorter = "/".join(parts[start:])
        folder = tree.unique_folder(dotted.rstrip("/")) or (tree.unique_folder(shorter) if start < 2 else "")
        if folder:
            return folder
    return ""


def php(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield an included file, or a class's by composer.json's PSR-4 prefixes, else the only file that ends so."""
    written = imported.module.strip("()'\" ").replace('"', "'").rpartition("'")[2].lstrip("\\")
    if "/" in written or written.endswith(".php"):
        file = written.lstrip("/")
        target = tree.first([join(folder_of(path), file), join("", file)]) or tree.unique_end(file)
        yield from _each(imported, [target] if target else [])
        return
    classes = [f"{written}\\{name}" for name in imported.names] or taken_apart(written, "\\")
    for module in classes:
        target = _php_class(tree, [part for part in module.split("\\") if part])
        yield from _each(imported, [target] if target else [])


def _php_class(tree: FileTree, parts: list[str]) -> str:
    name = "\\".join(parts)
    for prefix, folders in _psr4(tree):
        if name.startswith(prefix):
            rest = name[len(prefix) :].replace("\\", "/")
            target = tree.first(join(folder, rest + ".php") for folder in folders)
            if target:
                return target
    ends = ("/".join(parts[start:]) + ".php" for start in range(max(0, len(parts) - 1)))
    return next((file for end in ends if (file := tree.unique_end(end))), "")


def _psr4(tree: FileTree) -> list[tuple[str, list[str]]]:
    """Return (namespace prefix, folders), longest prefix first."""
    if "psr-4" not in tree.kept:
        entries: list[tuple[str, list[str]]] = []
        for file in sorted(tree.by_file.get("composer.json", ())):
            for section in ("autoload", "autoload-dev"):
                table = tree.json(file).get(section)
                prefixes = table.get("psr-4") if isinstance(table, dict) else None
                for prefix, folders in (prefixes if isinstance(prefixes, dict) else {}).items():
                    some = folders if isinstance(folders, list) else [folders]
                    entries.append((prefix, [join(folder_of(file), str(folder)) for folder in some]))
        tree.kept["psr-4"] = sorted(entries, key=lambda entry: -len(entry[0]))
    namespaces: list[tuple[str, list[str]]] = tree.kept["psr-4"]
    return namespaces


def swift(tree: FileTree, path: str, imported: Import) -> Iterator[Import]:
    """Yield the files of a target of the package: the folder of the module's name."""
    folder = tree.unique_folder("Sources/" + imported.module.split(".")[0])
    yield from _each(imported, tree.package(folder, (".swift",)) if folder else ())


def _each(imported: Import, files: Sequence[str]) -> Iterator[Import]:
    return (replace(imported, target=file) for file in files)
