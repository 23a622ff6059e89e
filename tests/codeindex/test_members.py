"""Fields, enum members and blocks of tests: what can be anchored besides what is indexed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.codeindex.mutations import Ground


class Case(NamedTuple):
    """A file, the member anchored in it, an edit of it, and an edit of something beside it."""

    path: str
    name: str
    symbol: str
    edit: tuple[str, str]
    beside: tuple[str, str]


CASES = [
    Case("python/members/source.py", "A.x", "A.x", ("x: int = 1", "x: int = 7"), ("y = 2", "y = 3")),
    Case("python/members/source.py", "z", "A.z", ("z: str", "z: bytes"), ("y = 2", "y = 3")),
    Case("python/members/source.py", "app", "app", ("app = 3", "app = 4"), ("y = 2", "y = 3")),
    Case("typescript/members/source.ts", "I.a", "I.a", ("a: string", "a: number"), ("B = 2", "B = 3")),
    Case("typescript/members/source.ts", "E.B", "E.B", ("B = 2", "B = 3"), ("a: string", "a: number")),
    Case("typescript/members/source.ts", "does #2", "suite 1_5.does _2", ("expect(1)", "expect(2)"), ("=> 1", "=> 2")),
    Case("typescript/members/source.ts", "suite 1.5", "suite 1_5", ("=> 1;", "=> 2;"), ("expect(1)", "expect(2)")),
    Case("typescript/members/source.ts", "T.k", "T.k", ("k: number", "k: string"), ("l(", "n(")),
    Case("typescript/members/source.ts", "T.l", "T.l", ("l(at: I)", "l(at: E)"), ("k: number", "k: string")),
    Case("typescript/members/source.ts", "W.w", "W.w", ("w: I", "w: E"), ("k: number", "k: string")),
    Case("javascript/members/source.js", "one", "one", ("return 1", "return 2"), ("x = 1", "x = 2")),
    Case("java/members/source.java", "A.a", "A.a", ("int a", "long a"), ("Y(2)", "Y(3)")),
    Case("java/members/source.java", "E.Y", "E.Y", ("Y(2)", "Y(3)"), ("return 1", "return 3")),
    Case("csharp/members/source.cs", "A.F", "A.F", ("get; set;", "get;"), ("Y = 2", "Y = 3")),
    Case("csharp/members/source.cs", "E.Y", "E.Y", ("Y = 2", "Y = 3"), ("get; set;", "get;")),
    Case("go/members/source.go", "T.Name", "T.Name", ('json:"n"', 'json:"name"'), ("A, B int", "A, B int64")),
    Case("rust/members/source.rs", "S.b", "S.b", ("Vec<u8>", "Vec<u16>"), ("pub a", "a")),
    Case("rust/members/source.rs", "E.Y", "E.Y", ("Y(u8)", "Y(u16)"), ("pub a", "a")),
    Case("php/members/source.php", "$x", "A.$x", ("$x = 1", "$x = 2"), ("A = 1", "A = 2")),
    Case("ruby/members/source.rb", "works", "A.when 1_5.works", ("      1\n", "      2\n"), (":x, :y", ":x, :z")),
    Case("c/members/source.c", "s.b", "s.b", ("char *b", "char **b"), ("Y = 2", "Y = 3")),
    Case("kotlin/members/source.kt", "A.z", "A.z", ("val z = 1", "val z = 2"), ("w: Int", "w: Long")),
    Case("swift/members/source.swift", "A.y", "A.y", ("y: Int", "y: Int8"), ("x = 1", "x = 2")),
    Case("scala/members/source.scala", "A.y", "A.y", ("y = 1", "y = 3"), ("z = 2", "z = 3")),
]
GOLDEN = Path(__file__).parents[1] / "golden" / "codeindex"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.partition('/')[0]} {case.name}")
def test_a_member_is_judged_by_itself_and_followed_with_its_owner(ground: Ground, case: Case) -> None:
    name, text = Path(case.path).name, (GOLDEN / case.path).read_text("utf-8")
    assert case.edit[0] in text
    assert case.beside[0] in text
    ground.write({name: text})
    ground.commit()
    (anchor,) = ground.code.anchors(ground.location, name, [case.name], None)
    assert anchor.symbol == case.symbol
    ground.write({name: text.replace(case.edit[0], case.edit[1], 1)})
    assert ground.verdict(anchor).freshness in ("drifted", "changed")
    ground.write({name: text.replace(case.beside[0], case.beside[1], 1)})
    assert ground.verdict(anchor).freshness == "fresh"
    (ground.folder / name).unlink()
    ground.write({f"moved/{name}": text})
    ground.commit()
    verdict = ground.verdict(anchor)
    assert (verdict.freshness, verdict.anchor.path) == ("moved", f"moved/{name}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.path.partition('/')[0]} {case.name}")
def test_a_member_does_not_mind_layout_and_comments_and_goes_with_its_file(ground: Ground, case: Case) -> None:
    name, text = Path(case.path).name, (GOLDEN / case.path).read_text("utf-8")
    comment = "# why\n" if name.endswith((".py", ".rb")) else "// why\n"
    ground.write({name: text})
    ground.commit()
    (anchor,) = ground.code.anchors(ground.location, name, [case.name], None)
    ground.write({name: text.replace("\n", "\n\n").rstrip("\n") + f"\n\n{comment}"})
    assert (ground.verdict(anchor).freshness, ground.verdict(anchor).anchor.symbol) == ("fresh", case.symbol)
    ground.write({name: None})
    ground.commit()
    assert ground.verdict(anchor).freshness == "orphaned"


def test_a_deleted_enum_member_is_not_followed_to_a_new_one(ground: Ground) -> None:
    ground.write({"a.ts": "enum E { A, B, C }\n"})
    ground.commit()
    anchor = ground.anchor("a.ts", "E.B")
    ground.write({"a.ts": "enum E { A, D, C }\n"})
    ground.commit()
    assert ground.verdict(anchor).freshness == "orphaned"


def test_a_class_is_fingerprinted_with_its_fields_as_before_and_its_members_are_not_indexed(ground: Ground) -> None:
    ground.write({"a.py": "class A:\n    x = 1\n    def f(self): ...\n"})
    ground.commit()
    anchor = ground.anchor("a.py", "A")
    ground.write({"a.py": "class A:\n    x = 2\n    def f(self): ...\n"})
    assert ground.verdict(anchor).freshness == "drifted"
    assert ground.code.find(ground.location, "A.x") == []


def test_a_property_keeps_its_anchor_when_its_interface_becomes_a_type_in_another_file(ground: Ground) -> None:
    ground.write({"a.ts": "export interface Jar {\n\tget(url: string): string;\n}\n", "b.ts": "export type B = 1;\n"})
    ground.commit()
    anchor = ground.anchor("a.ts", "Jar.get")
    ground.write({"a.ts": "export const a = 1;\n", "b.ts": "export interface Jar {\n\tget(url: string): string;\n}\n"})
    ground.commit()
    ground.write({"b.ts": "export type Jar = {\n\tget: (url: string) => string;\n};\n"})
    ground.commit()
    verdict = ground.verdict(anchor)
    assert (verdict.anchor.path, verdict.anchor.symbol, verdict.freshness) == ("b.ts", "Jar.get", "changed")
