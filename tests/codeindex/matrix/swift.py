"""Swift's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
import Foundation

let retriesLimit = 3

/// Fetches a page.
func fetch(url: String, retries: Int = 3) throws -> String {
    for attempt in 0..<retries {
        let answer = try send(url, attempt: attempt)
        if answer.ok { return answer.body }
        // wait a little
        sleep(1 << attempt)
    }
    throw Failure.timeout(url)
}

class Order: Basket {
    let lines: [Line]

    var count: Int {
        return lines.count * 1
    }

    init(lines: [Line]) {
        self.lines = lines
    }

    func total(rate: Double = 1.0) -> Double {
        return lines.map { $0.price * $0.count }.reduce(0, +) * rate + shipping()
    }

    func shipping() -> Double {
        return lines.count < 3 ? 5 : 0
    }

    func has(_ line: Line) -> Bool {
        return lines.contains(line)
    }

    func has(id: Int) -> Bool {
        return lines.contains { $0.id == id }
    }
}

extension Order: CustomStringConvertible {
    var description: String { "order of \\(count)" }
}

func outer(values: [Int?]) -> [Int] {
    func inner(_ value: Int) -> Int {
        return value * 2 + values.count
    }
    return values.compactMap { $0 }.map(inner)
}
"""

PATH = "Sources/Shop/Orders.swift"
FETCH = SOURCE[SOURCE.index("/// Fetches") : SOURCE.index("class Order")]
ORDER = SOURCE[SOURCE.index("class Order") : SOURCE.index("extension Order")]
EXTENSION = SOURCE[SOURCE.index("extension Order") : SOURCE.index("func outer")]
TOTAL = SOURCE[SOURCE.index("    func total") : SOURCE.index("    func shipping")]
SHIPPING = SOURCE[SOURCE.index("    func shipping") : SOURCE.index("    func has(_")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit

REFORMATTED = SOURCE.replace("    ", "  ").replace("{ return answer.body }", "{\n      return answer.body;\n    }")
REFORMATTED = REFORMATTED.replace("(url: String, retries: Int = 3)", "(\n  url: String,\n  retries: Int = 3\n)")
REFORMATTED = REFORMATTED.replace("lines.map {", "lines\n      .map {")

MUTATIONS = {
    "rename": edit(
        "func fetch(", "func download(", fetch=f"moved: renamed to download -> {PATH}::download", outer="fresh"
    ),
    "rename_class": edit(
        "class Order:",
        "class Cart:",
        Order=f"moved: renamed to Cart -> {PATH}::Cart",
        Order__total=f"moved: moved to Cart.total -> {PATH}::Cart.total",
        Order__description="fresh",
    ),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "Sources/Shop/Web.swift": FETCH},
        {"fetch": "moved -> Sources/Shop/Web.swift::fetch", "outer": "fresh"},
    ),
    "move_extension": Mutation(
        {PATH: SOURCE.replace(EXTENSION, ""), "Sources/Shop/Text.swift": EXTENSION},
        {"Order.description": "moved -> Sources/Shop/Text.swift::Order.description", "Order": "fresh"},
    ),
    "to_extension": Mutation(
        {PATH: SOURCE.replace(SHIPPING, "") + "\nextension Order {\n" + SHIPPING + "}\n"},
        {"Order.shipping": "fresh", "Order": "fresh"},
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED}, {name: "fresh" for name in ("fetch", "Order", "Order.total", "Order.shipping", "outer")}
    ),
    "comment": edit("// wait a little", "/* wait /* some */ more */", fetch="fresh", outer="fresh"),
    "documentation": edit("/// Fetches a page.", "/**\n Fetches it.\n */", fetch="fresh"),
    "body": edit("1 << attempt", "attempt", fetch="drifted: body changed", Order="fresh", outer="fresh"),
    "property": edit("lines.count * 1", "lines.count * 2", Order__count="drifted", Order="fresh"),
    "field": edit("let lines: [Line]", "var lines: [Line]", Order="drifted", Order__init="fresh"),
    "constant": edit("retriesLimit = 3", "retriesLimit = 5", retriesLimit="drifted", fetch="fresh"),
    "parameter": edit(
        "retries: Int = 3)", "retries: Int = 3, timeout: Int = 5)", fetch="changed: signature: timeout added"
    ),
    "label": edit("func has(id: Int", "func has(id number: Int", **{"Order.has#2": "changed: signature"}),
    "default": edit("rate: Double = 1.0", "rate: Double = 2.0", Order__total="changed: default of rate changed"),
    "decorator": edit(
        "func outer(", "@available(iOS 15, *)\nfunc outer(", outer="changed: decorator added", outer__inner="fresh"
    ),
    "modifier": edit("    func shipping", "    private func shipping", Order__shipping="changed", Order="fresh"),
    "superclass": edit("class Order: Basket", "final class Order: Basket", Order="changed", Order__total="fresh"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"fetch": "orphaned: fetch deleted", "Order.shipping": "orphaned", "Order": "fresh", "outer": "fresh"},
    ),
    "split": Mutation(
        {PATH: None, "Sources/Shop/Order.swift": ORDER, "Sources/Shop/Rest.swift": SOURCE.replace(ORDER, "")},
        {
            "Order": "moved -> Sources/Shop/Order.swift::Order",
            "Order.total": "moved -> Sources/Shop/Order.swift::Order.total",
            "outer.inner": "moved -> Sources/Shop/Rest.swift::outer.inner",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + TOTAL)},
        {"Order.total": "fresh", "Order.shipping": "fresh", "Order": "fresh"},
    ),
    "overload": edit("$0.id == id", "$0.id != id", **{"Order.has#2": "drifted", "Order": "fresh"}),
    "other_overload": edit("contains(line)", "contains(line.copy())", **{"Order.has#2": "fresh", "Order": "fresh"}),
    "nested": edit("value * 2", "value * 3", outer__inner="drifted", outer="drifted", fetch="fresh"),
    "syntax_error": edit("lines.count < 3 ? 5 : 0", "lines.count < (", Order__shipping="unverified", fetch="fresh"),
    "conflict": edit(
        "        sleep(1 << attempt)\n",
        "<<<<<<< HEAD\n        sleep(1 << attempt)\n=======\n        sleep(1)\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        Order__total="fresh",
        outer="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"fetch": "fresh", "Order": "fresh"}),
}

MATRIX = EMPTY._replace(mutations=MUTATIONS)
