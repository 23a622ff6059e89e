"""Where imports lead, on trees written as tables: a file, an import in it, and what it must resolve to."""

from __future__ import annotations

import pytest

from holdfast.codeindex.filetree import join, plain_json
from holdfast.codeindex.imports import RULES, Resolver
from holdfast.domain.symbol import Import


def resolve(files: list[str] | dict[str, str], path: str, module: str, *names: str) -> list[str]:
    """Targets of one import, each with its names when it has any."""
    contents = files if isinstance(files, dict) else dict.fromkeys(files, "")
    resolver = Resolver(contents.keys(), lambda file: contents.get(file, "").encode())
    imports = resolver.resolve(path, [Import(module=module, names=names)])
    return [imported.target + "".join(f" {name}" for name in imported.names) for imported in imports]


PYTHON = [
    "src/shop/__init__.py", "src/shop/cart.py", "src/shop/pay/__init__.py", "src/shop/pay/card.py",
    "src/shop/pay/json.py", "tests/test_cart.py", "tests/tools.py", "tests/unit/__init__.py", "tests/unit/test_a.py",
    "scripts/release.py", "setup.py", "plugins/a/common.py", "plugins/b/common.py",
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "module", "names", "targets"),
    [
        ("src/shop/cart.py", "shop.pay.card", (), ["src/shop/pay/card.py"]),
        ("src/shop/cart.py", "shop.pay", ("card", "sum"), ["src/shop/pay/card.py card", "src/shop/pay/__init__.py sum"]),  # noqa: E501
        ("src/shop/cart.py", ".pay", ("card",), ["src/shop/pay/card.py card"]),
        ("src/shop/cart.py", ".", ("pay", "VERSION"), ["src/shop/pay/__init__.py pay", "src/shop/__init__.py VERSION"]),
        ("src/shop/pay/card.py", "..cart", ("Cart",), ["src/shop/cart.py Cart"]),
        ("src/shop/pay/card.py", "..", ("cart",), ["src/shop/cart.py cart"]),
        ("src/shop/pay/card.py", ".....too.far", (), []),
        ("src/shop/pay/__init__.py", ".", ("own_name",), []),
        ("tests/test_cart.py", "shop.cart", ("Cart",), ["src/shop/cart.py Cart"]),
        ("tests/test_cart.py", "tools", (), ["tests/tools.py"]),
        ("tests/unit/test_a.py", "shop", (), ["src/shop/__init__.py"]),
        ("scripts/release.py", "shop.cart", (), ["src/shop/cart.py"]),
        ("src/shop/cart.py", "json", (), []),
        ("src/shop/pay/card.py", "json", (), []),
        ("src/shop/pay/card.py", "requests.adapters", ("HTTPAdapter",), []),
        ("scripts/release.py", "common", (), []),
        ("plugins/a/x.py", "common", (), ["plugins/a/common.py"]),
    ],
)  # fmt: skip
def test_python(path: str, module: str, names: tuple[str, ...], targets: list[str]) -> None:
    assert resolve(PYTHON, path, module, *names) == targets


SCRIPTS = {
    "tsconfig.base.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["libs/*/src", "libs/*"]}}}',
    "web/tsconfig.json": '{ // comments are fine\n"extends": "../tsconfig.base", /* so are */ "include": ["src",],}',
    "admin/tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"], "exact": ["src/b.ts"]}}}',
    "broken/tsconfig.json": "{{{",
    "libs/money/src/index.ts": "", "libs/dates.ts": "", "web/src/a.ts": "", "web/src/b.tsx": "",
    "web/src/c/index.js": "",
    "web/src/d.mjs": "", "web/src/style.css": "", "web/src/types.d.ts": "", "admin/src/a.ts": "", "admin/src/b.ts": "",
    "broken/src/a.ts": "", "packages/ui/package.json": '{"name": "@shop/ui", "main": "dist/index.js"}',
    "packages/ui/src/index.ts": "", "packages/ui/src/button.tsx": "", "packages/odd/package.json": "[]",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "module", "target"),
    [
        ("web/src/a.ts", "./b", "web/src/b.tsx"),
        ("web/src/a.ts", "./b.js", "web/src/b.tsx"),
        ("web/src/a.ts", "./c", "web/src/c/index.js"),
        ("web/src/c/index.js", "..", ""),
        ("web/src/a.ts", "./d.mjs", "web/src/d.mjs"),
        ("web/src/a.ts", "./style.css", "web/src/style.css"),
        ("web/src/a.ts", "./style.css?inline", "web/src/style.css"),
        ("web/src/a.ts", "./types", "web/src/types.d.ts"),
        ("web/src/a.ts", "./missing", ""),
        ("web/src/a.ts", "../../../../etc/passwd", ""),
        ("web/src/a.ts", "react", ""),
        ("web/src/a.ts", "@lib/money", "libs/money/src/index.ts"),
        ("web/src/a.ts", "@lib/dates", "libs/dates.ts"),
        ("web/src/a.ts", "libs/dates", "libs/dates.ts"),
        ("admin/src/a.ts", "@/b", "admin/src/b.ts"),
        ("admin/src/a.ts", "exact", "admin/src/b.ts"),
        ("admin/src/a.ts", "src/b", ""),
        ("broken/src/a.ts", "@/a", ""),
        ("web/src/a.ts", "@shop/ui", "packages/ui/src/index.ts"),
        ("web/src/a.ts", "@shop/ui/button", "packages/ui/src/button.tsx"),
        ("web/src/a.ts", "@shop/other", ""),
        ("web/src/a.ts", "", ""),
    ],
)
def test_javascript_and_typescript(path: str, module: str, target: str) -> None:
    assert resolve(SCRIPTS, path, module) == ([target] if target else [])


def test_go() -> None:
    files = {
        "go.mod": "module example.com/shop // shop\n\ngo 1.22\n", "tools/go.mod": 'module "example.com/shop/tools"',
        "cart/cart.go": "", "cart/price.go": "", "cart/cart_test.go": "", "tools/gen/gen.go": "", "main.go": "",
        **{f"big/f{n}.go": "" for n in range(20)}, "big/big.go": "",
    }  # fmt: skip
    assert resolve(files, "main.go", "example.com/shop/cart") == ["cart/cart.go", "cart/price.go"]
    assert resolve(files, "main.go", "example.com/shop/tools/gen") == ["tools/gen/gen.go"]
    assert resolve(files, "main.go", "example.com/shop/big") == ["big/big.go"]
    assert resolve(files, "main.go", "example.com/shopping/cart") == []
    assert resolve(files, "main.go", "fmt") == []


RUST = {
    "Cargo.toml": '[workspace]\nmembers = ["a"]\n', "a/Cargo.toml": '[package]\nname = "my-a"\n', "a/src/lib.rs": "",
    "a/src/net.rs": "", "a/src/net/tls.rs": "", "a/src/store/mod.rs": "", "a/src/store/disk.rs": "",
    "b/Cargo.toml": '[dependencies]\nname = "wrong"\n[package]\nversion = "1"\nname = "b"\n', "b/src/main.rs": "",
    "b/tests/all.rs": "", "b/tests/tools.rs": "", "b/crates/core/main.rs": "", "b/crates/core/flags/mod.rs": "",
    "b/crates/core/flags/high.rs": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "module", "targets"),
    [
        ("a/src/lib.rs", "net", ["a/src/net.rs"]),
        ("a/src/lib.rs", "store", ["a/src/store/mod.rs"]),
        ("a/src/net.rs", "tls", ["a/src/net/tls.rs"]),
        ("a/src/net.rs", "crate::store::disk::Disk", ["a/src/store/disk.rs"]),
        ("a/src/net.rs", "crate::Error", ["a/src/lib.rs"]),
        ("a/src/net/tls.rs", "super::Socket", ["a/src/net.rs"]),
        ("a/src/net/tls.rs", "super::super::store", ["a/src/store/mod.rs"]),
        ("a/src/net.rs", "self::tls::Tls", ["a/src/net/tls.rs"]),
        ("a/src/net.rs", "crate::{store::{self, disk::Disk}, net::tls as t}",
         ["a/src/store/mod.rs", "a/src/store/disk.rs", "a/src/net/tls.rs"]),
        ("b/src/main.rs", "my_a::net::tls", ["a/src/net/tls.rs"]),
        ("b/src/main.rs", "my_a::Thing", ["a/src/lib.rs"]),
        ("b/tests/all.rs", "crate::tools::Dir", ["b/tests/tools.rs"]),
        ("b/crates/core/flags/high.rs", "crate::flags::Low", ["b/crates/core/flags/mod.rs"]),
        ("b/src/main.rs", "std::fs", []),
        ("b/src/main.rs", "serde::{Serialize, Deserialize}", []),
        ("b/src/main.rs", "", []),
    ],
)  # fmt: skip
def test_rust(path: str, module: str, targets: list[str]) -> None:
    assert resolve(RUST, path, module) == targets


def test_the_jvm_s_languages() -> None:
    files = [
        "app/src/main/java/com/shop/Cart.java", "app/src/main/kotlin/com/shop/Money.kt",
        "core/com/shop/util/Dates.scala",
        "core/com/shop/util/Text.scala", "x/com/twice/A.java", "y/com/twice/A.java", "Main.java",
    ]  # fmt: skip
    assert resolve(files, "Main.java", "com.shop.Cart") == [files[0]]
    assert resolve(files, "Main.java", "com.shop.Cart.Line") == [files[0]]
    assert resolve(files, "Main.kt", "com.shop.Money") == [files[1]]
    assert resolve(files, "Main.scala", "com.shop.util.{Dates, Text => T}") == [files[2]]
    assert resolve(files, "Main.scala", "com.shop.util", "Dates", "Text") == [
        f"{files[2]} Dates Text",
        f"{files[3]} Dates Text",
    ]
    assert resolve(files, "Main.java", "com.shop.util.*") == [files[2], files[3]]
    assert resolve(files, "Main.java", "com.twice.A") == []
    assert resolve(files, "Main.java", "java.util.List") == []


def test_c_and_c_plus_plus() -> None:
    files = [
        "src/net/sock.c", "src/net/sock.h", "include/shop/cart.h", "lib/deep/only.hpp", "a/twice.h", "b/twice.h",
        "compat/stdio.h",
    ]  # fmt: skip
    assert resolve(files, "src/net/sock.c", "sock.h") == ["src/net/sock.h"]
    assert resolve(files, "src/net/sock.c", "shop/cart.h") == ["include/shop/cart.h"]
    assert resolve(files, "src/net/sock.c", "net/sock.h") == ["src/net/sock.h"]
    assert resolve(files, "src/net/sock.c", "deep/only.hpp") == ["lib/deep/only.hpp"]
    assert resolve(files, "src/net/sock.c", "twice.h") == []
    assert resolve(files, "src/net/sock.c", "stdio.h") == []
    assert resolve(files, "compat/x.c", "stdio.h") == ["compat/stdio.h"]


def test_csharp() -> None:
    files = ["src/Shop.Core/Money/Euro.cs", "src/Shop.Core/Money/Cents.cs", "Cart/Line.cs"]
    assert resolve(files, "a.cs", "Shop.Core.Money") == [files[1], files[0]]
    assert resolve(files, "a.cs", "Shop.Cart") == ["Cart/Line.cs"]
    assert resolve(files, "a.cs", "Shop.Core.Money", "Euro", "List") == ["src/Shop.Core/Money/Euro.cs Euro"]
    assert resolve(files, "a.cs", "Shop.Core.Money.Euro", "List") == ["src/Shop.Core/Money/Euro.cs Euro"]
    assert resolve(files, "a.cs", "E = Shop.Core.Money.Euro") == ["src/Shop.Core/Money/Euro.cs Euro"]
    assert resolve(files, "a.cs", "System.Linq") == []


def test_a_csharp_namespace_of_many_files_leads_to_those_whose_types_are_used() -> None:
    files = [f"Shop/Money/{name}.cs" for name in ("Euro", "Yen", *(f"Coin{number}" for number in range(30)))]
    assert resolve(files, "Cart.cs", "Shop.Money", "Yen", "Cart", "String") == ["Shop/Money/Yen.cs Yen"]
    assert resolve(files, "Cart.cs", "Shop.Money", "Cart", "String") == []


def test_php() -> None:
    files = {
        "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}, "autoload-dev": {"psr-4": {"T\\\\": ["t"]}}}',
        "src/Cart/Line.php": "", "t/CartTest.php": "", "legacy/helpers.php": "", "other/Acme/Thing.php": "",
    }  # fmt: skip
    assert resolve(files, "t/CartTest.php", "Shop\\Cart\\Line") == ["src/Cart/Line.php"]
    assert resolve(files, "t/CartTest.php", "\\Shop\\Cart\\{Line, Gone}") == ["src/Cart/Line.php"]
    assert resolve(files, "t/CartTest.php", "Shop\\Cart", "Line", "Gone") == ["src/Cart/Line.php Line Gone"]
    assert resolve(files, "src/Cart/Line.php", "T\\CartTest") == ["t/CartTest.php"]
    assert resolve(files, "src/Cart/Line.php", "../../legacy/helpers.php") == ["legacy/helpers.php"]
    assert resolve(files, "src/Cart/Line.php", "Acme\\Thing") == ["other/Acme/Thing.php"]
    assert resolve(files, "src/Cart/Line.php", "DateTime") == []


def test_ruby_swift_and_shells() -> None:
    ruby = ["lib/shop.rb", "lib/shop/cart.rb", "spec/spec_tools.rb", "spec/cart_spec.rb"]
    assert resolve(ruby, "lib/shop.rb", "shop/cart") == ["lib/shop/cart.rb"]
    assert resolve(ruby, "spec/cart_spec.rb", "./spec_tools") == ["spec/spec_tools.rb"]
    assert resolve(ruby, "spec/cart_spec.rb", "../lib/shop") == ["lib/shop.rb"]
    assert resolve(ruby, "lib/shop.rb", "json") == []
    swift = ["Sources/Core/A.swift", "Sources/Core/B.swift", "Sources/App/main.swift"]
    assert resolve(swift, "Sources/App/main.swift", "Core") == swift[:2]
    assert resolve(swift, "Sources/App/main.swift", "Foundation") == []
    shell = ["bin/run.sh", "bin/lib/log.sh", "tools/env.sh"]
    for written in ("lib/log.sh", "$HERE/lib/log.sh", '"${BASH_SOURCE%/*}/lib/log.sh"', '$(dirname "$0")/lib/log.sh'):
        assert resolve(shell, "bin/run.sh", written) == ["bin/lib/log.sh"], written
    assert resolve(shell, "bin/run.sh", "tools/env.sh") == ["tools/env.sh"]
    for written in ("/etc/profile", "$1", "", "a$B.sh"):
        assert resolve(shell, "bin/run.sh", written) == []


def test_a_language_without_a_rule_gets_the_unique_end() -> None:
    files = ["lua/shop/cart.lua", "lua/shop/init.lua"]
    assert resolve(files, "lua/shop/init.lua", "cart.lua") == ["lua/shop/cart.lua"]
    assert resolve(files, "x.lua", "shop/cart.lua") == ["lua/shop/cart.lua"]
    assert resolve(files, "x.lua", "cart") == []


@pytest.mark.parametrize("suffix", sorted(RULES))
@pytest.mark.parametrize(
    "module", ["", ".", "..", "/", "{", "}", "{{{{", "a::{b,{c", "\\", "*", "$", "a" * 5_000, "a." * 500]
)
def test_no_import_is_too_odd(suffix: str, module: str) -> None:
    assert resolve([f"a/b{suffix}", "a/c.py"], f"a/b{suffix}", module, "", "*") in ([], ["a/c.py  *"])


def test_paths_are_joined_inside_the_project() -> None:
    assert join("a/b", "../c") == "a/c"
    assert join("a", "../../c") == ""
    assert join("", "./c//d/") == "c/d"


def test_comments_and_trailing_commas_are_forgiven_outside_strings() -> None:
    assert plain_json('{"a": "x // y", /* c */ "b": [1, 2, ], // end\n}') == '{"a": "x // y",  "b": [1, 2 ] \n}'
    assert plain_json('"open') == '"open'
    assert plain_json("/* open") == ""
