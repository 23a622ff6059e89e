"""An import in each language, parsed and resolved: what the queries capture is what the rules understand."""

from __future__ import annotations

import pytest

from holdfast.codeindex import languages
from holdfast.codeindex.refresh import refresh
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree

TREES: dict[str, tuple[dict[str, str], dict[str, list[str]]]] = {
    "python": (
        {
            "shop/__init__.py": "", "shop/money.py": "", "shop/tax.py": "", "shop/late.py": "",
            "shop/cart.py": "from .money import Cents\nimport shop.tax as t\ndef f():\n    from shop import late\n",
        },
        {"shop/cart.py": ["shop/late.py", "shop/money.py", "shop/tax.py"]},
    ),
    "javascript": (
        {
            "a.js": "import x, {y} from './b.js';\nexport * from './c';\nconst d = require('./d');\n"
                    "import('./e.mjs');\n",
            "b.js": "", "c/index.js": "", "d.cjs": "", "e.mjs": "",
        },
        {"a.js": ["b.js", "c/index.js", "d.cjs", "e.mjs"]},
    ),
    "typescript": (
        {
            "src/a.ts": "import type { B } from './b';\nimport { c } from '@/c';\nexport { d } from \"./d.js\";\n",
            "src/b.ts": "", "src/c.ts": "", "src/d.ts": "",
            "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        },
        {"src/a.ts": ["src/b.ts", "src/c.ts", "src/d.ts"]},
    ),
    "tsx": (
        {"src/App.tsx": "import Button from './Button';\nexport const App = () => <Button/>;\n", "src/Button.tsx": ""},
        {"src/App.tsx": ["src/Button.tsx"]},
    ),
    "go": (
        {
            "go.mod": "module example.com/shop\n", "cart/cart.go": "package cart\n", "tax/tax.go": "package tax\n",
            "main.go": 'package main\n\nimport (\n\t"fmt"\n\tc "example.com/shop/cart"\n)\n'
                       'import "example.com/shop/tax"\n',
        },
        {"main.go": ["cart/cart.go", "tax/tax.go"]},
    ),
    "rust": (
        {
            "Cargo.toml": '[package]\nname = "shop"\n', "src/cart/mod.rs": "", "src/cart/line.rs": "use super::Cart;\n",
            "src/tax.rs": "", "src/lib.rs": "mod cart;\npub mod tax;\nuse std::fs;\n",
            "src/money.rs": "use crate::{cart::line::Line, tax};\nuse crate::tax::Rate as R;\n",
        },
        {
            "src/lib.rs": ["src/cart/mod.rs", "src/tax.rs"], "src/money.rs": ["src/cart/line.rs", "src/tax.rs"],
            "src/cart/line.rs": ["src/cart/mod.rs"],
        },
    ),
    "java": (
        {
            "src/com/shop/Cart.java": "package com.shop;\nimport com.shop.money.Cents;\n"
                                      "import static com.shop.Tax.rate;\n",
            "src/com/shop/money/Cents.java": "", "src/com/shop/Tax.java": "",
        },
        {"src/com/shop/Cart.java": ["src/com/shop/Tax.java", "src/com/shop/money/Cents.java"]},
    ),
    "c": (
        {"src/a.c": '#include "a.h"\n#include <stdio.h>\n#include "deep/b.h"\n', "src/a.h": "", "lib/deep/b.h": ""},
        {"src/a.c": ["lib/deep/b.h", "src/a.h"]},
    ),
    "cpp": (
        {"src/a.cpp": '#include "a.hpp"\n#include <vector>\n#include <shop/b.hpp>\n', "src/a.hpp": "",
         "include/shop/b.hpp": ""},
        {"src/a.cpp": ["include/shop/b.hpp", "src/a.hpp"]},
    ),
    "csharp": (
        {"Shop/Money/Euro.cs": "namespace Shop.Money;\n", "Shop/Cart.cs": "using System;\nusing Shop.Money;\n"},
        {"Shop/Cart.cs": ["Shop/Money/Euro.cs"]},
    ),
    "ruby": (
        {"lib/shop.rb": "require 'json'\nrequire_relative 'shop/cart'\nrequire 'shop/tax'\n", "lib/shop/cart.rb": "",
         "lib/shop/tax.rb": ""},
        {"lib/shop.rb": ["lib/shop/cart.rb", "lib/shop/tax.rb"]},
    ),
    "php": (
        {
            "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}', "src/Tax.php": "<?php\n",
            "src/Cart.php": "<?php\nnamespace Shop;\nuse Shop\\Tax;\nuse Shop\\Money\\{Euro, Cents};\n"
                            "require __DIR__ . '/old.php';\n",
            "src/Money/Euro.php": "<?php\n", "src/Money/Cents.php": "<?php\n", "src/old.php": "<?php\n",
        },
        {"src/Cart.php": ["src/Money/Cents.php", "src/Money/Euro.php", "src/Tax.php", "src/old.php"]},
    ),
    "kotlin": (
        {"src/com/shop/Cart.kt": "package com.shop\nimport com.shop.money.Euro\n", "src/com/shop/money/Euro.kt": ""},
        {"src/com/shop/Cart.kt": ["src/com/shop/money/Euro.kt"]},
    ),
    "scala": (
        {
            "src/com/shop/Cart.scala": "package com.shop\nimport com.shop.money.Euro\n"
                                       "import com.shop.tax.{Rate, Sum => S}\n",
            "src/com/shop/money/Euro.scala": "", "src/com/shop/tax/Rate.scala": "", "src/com/shop/tax/Sum.scala": "",
        },
        {"src/com/shop/Cart.scala": ["src/com/shop/money/Euro.scala", "src/com/shop/tax/Rate.scala",
                                     "src/com/shop/tax/Sum.scala"]},
    ),
    "swift": (
        {"Sources/App/main.swift": "import Foundation\nimport Core\n", "Sources/Core/Cart.swift": ""},
        {"Sources/App/main.swift": ["Sources/Core/Cart.swift"]},
    ),
    "bash": (
        {
            "bin/run.sh": 'source ./lib/log.sh\n. "$HERE/lib/env.sh"\nsource "$(dirname "$0")/lib/net.sh"\n',
            "bin/lib/log.sh": "", "bin/lib/env.sh": "", "bin/lib/net.sh": "",
        },
        {"bin/run.sh": ["bin/lib/env.sh", "bin/lib/log.sh", "bin/lib/net.sh"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_imports_lead_to_their_files(index: SqliteIndex, tree: WorkTree, name: str) -> None:
    files, wanted = TREES[name]
    if not {languages.for_path(path) for path in wanted} - {None}:
        pytest.skip(f"{name} is not among the languages")
    tree.write(files)
    refresh(index, str(tree.root))
    targets = {
        path: sorted({imported.target for imported in index.imports(str(tree.root), path) if imported.target})
        for path in wanted
    }
    assert targets == wanted
