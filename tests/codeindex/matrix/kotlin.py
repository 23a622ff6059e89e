"""Kotlin's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
package shop

const val RETRIES = 3

/** Fetches a page. */
fun fetch(url: String, retries: Int = RETRIES): String {
    for (attempt in 0 until retries) {
        val answer = send(url, attempt)
        if (answer.ok) return answer.body
        // wait a little
        sleep(1 shl attempt)
    }
    throw TimeoutException(url)
}

class Order(private val lines: List<Line>) : Basket() {
    val count: Int
        get() = lines.size * 1

    fun total(rate: Double = 1.0): Double {
        return lines.sumOf { line -> line.price * line.count } * rate + shipping()
    }

    fun shipping(): Int = if (lines.size < 3) 5 else 0

    fun has(line: Line): Boolean = lines.contains(line)

    fun has(id: Int): Boolean = lines.any { it.id == id }

    companion object {
        fun empty(): Order = Order(listOf())
    }
}

fun outer(values: List<Int?>): List<Int> {
    fun inner(value: Int): Int {
        return value * 2 + values.size
    }
    return values.filterNotNull().map(::inner)
}
"""

PATH = "src/shop/Orders.kt"
FETCH = SOURCE[SOURCE.index("/** Fetches") : SOURCE.index("class Order")]
ORDER = SOURCE[SOURCE.index("class Order") : SOURCE.index("fun outer")]
TOTAL = SOURCE[SOURCE.index("    fun total") : SOURCE.index("    fun shipping")]
SHIPPING = SOURCE[SOURCE.index("    fun shipping") : SOURCE.index("    fun has(line")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit

REFORMATTED = SOURCE.replace("    ", "  ").replace(
    "(url: String, retries: Int = RETRIES)", "(\n  url: String,\n  retries: Int = RETRIES,\n)"
)
REFORMATTED = REFORMATTED.replace("return answer.body\n", "return answer.body;\n").replace(
    "shipping(): Int = if", "shipping(): Int =\n    if"
)
REFORMATTED = REFORMATTED.replace("{ line -> line.price * line.count }", "{ line ->\n    line.price * line.count\n  }")

MUTATIONS = {
    "rename": edit(
        "fun fetch(", "fun download(", fetch=f"moved: renamed to download -> {PATH}::download", outer="fresh"
    ),
    "rename_class": edit(
        "class Order(",
        "class Cart(",
        Order=f"moved: renamed to Cart -> {PATH}::Cart",
        Order__total=f"moved: moved to Cart.total -> {PATH}::Cart.total",
    ),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "src/shop/Web.kt": "package shop\n\n" + FETCH},
        {"fetch": "moved: moved to src/shop/Web.kt -> src/shop/Web.kt::fetch", "outer": "fresh"},
    ),
    "package": edit("package shop", "package acme.shop", fetch="fresh", Order="fresh"),
    "reformat": Mutation(
        {PATH: REFORMATTED}, {name: "fresh" for name in ("fetch", "Order", "Order.total", "Order.shipping", "outer")}
    ),
    "comment": edit("// wait a little", "/* wait\n some more */", fetch="fresh", outer="fresh"),
    "documentation": edit("Fetches a page.", "Fetches it.\n * @return text", fetch="fresh"),
    "body": edit("1 shl attempt", "attempt", fetch="drifted: body changed", Order="fresh", outer="fresh"),
    "property": edit("lines.size * 1", "lines.size * 2", Order__count="drifted", Order="fresh"),
    "companion": edit("Order(listOf())", "Order(emptyList())", Order__empty="drifted", Order="fresh"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", RETRIES="drifted", fetch="fresh"),
    "parameter": edit(
        "= RETRIES)", "= RETRIES, timeout: Int = 5)", fetch="changed: signature: timeout added", outer="fresh"
    ),
    "type": edit("url: String", "url: Uri", fetch="changed: url changed"),
    "constructor": edit("private val lines", "val lines", Order="changed", Order__total="fresh"),
    "default": edit("rate: Double = 1.0", "rate: Double = 2.0", Order__total="changed: default of rate changed"),
    "decorator": edit("fun outer(", "@Cached\nfun outer(", outer="changed: decorator added", outer__inner="fresh"),
    "modifier": edit("    fun shipping", "    private fun shipping", Order__shipping="changed", Order="fresh"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"fetch": "orphaned: fetch deleted", "Order.shipping": "orphaned", "Order": "fresh", "outer": "fresh"},
    ),
    "split": Mutation(
        {PATH: None, "src/shop/Order.kt": "package shop\n\n" + ORDER, "src/shop/Rest.kt": SOURCE.replace(ORDER, "")},
        {
            "Order": "moved -> src/shop/Order.kt::Order",
            "Order.total": "moved -> src/shop/Order.kt::Order.total",
            "outer.inner": "moved -> src/shop/Rest.kt::outer.inner",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + TOTAL)},
        {"Order.total": "fresh", "Order.shipping": "fresh", "Order": "fresh"},
    ),
    "overload": Mutation(
        {PATH: SOURCE.replace("it.id == id", "it.id.toInt() == id")},
        {"Order.has#2": "drifted", "Order": "fresh"},
    ),
    "other_overload": edit("contains(line)", "any { it == line }", **{"Order.has#2": "fresh", "Order": "fresh"}),
    "nested": edit("value * 2", "value * 3", outer__inner="drifted", outer="drifted", fetch="fresh"),
    "syntax_error": edit(
        "(lines.size < 3) 5 else 0",
        "(lines.size < 3",
        Order__shipping="unverified",
        fetch="fresh",
        Order__total="fresh",
    ),
    "conflict": edit(
        "        sleep(1 shl attempt)\n",
        "<<<<<<< HEAD\n        sleep(1 shl attempt)\n=======\n        sleep(1)\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        Order__total="fresh",
        outer="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"fetch": "fresh", "Order": "fresh"}),
}

MATRIX = EMPTY._replace(mutations=MUTATIONS)
