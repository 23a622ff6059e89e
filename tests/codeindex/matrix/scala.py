"""Scala's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
package shop

object Web {
  val Retries = 3

  /** Fetches a page. */
  def fetch(url: String, retries: Int = 3): String = {
    for (attempt <- 0 until retries) {
      val answer = send(url, attempt)
      if (answer.ok) return answer.body
      // wait a little
      Thread.sleep(1 << attempt)
    }
    throw new TimeoutException(url)
  }

  def outer(values: List[Int]): List[Int] = {
    def inner(value: Int): Int = {
      value * 2 + values.size
    }
    values.filter(_ > 0).map(inner)
  }
}

class Order(lines: List[Line]) extends Basket {
  lazy val count: Int = lines.size * 1

  def total(rate: Double = 1.0): Double = {
    lines.map(line => line.price * line.count).sum * rate + shipping()
  }

  def shipping(): Int = if (lines.size < 3) 5 else 0

  def has(line: Line): Boolean = lines.contains(line)

  def has(id: Int): Boolean = lines.exists(_.id == id)
}
"""

PATH = "src/shop/Orders.scala"
FETCH = SOURCE[SOURCE.index("  /** Fetches") : SOURCE.index("  def outer")]
ORDER = SOURCE[SOURCE.index("class Order") :]
TOTAL = SOURCE[SOURCE.index("  def total") : SOURCE.index("  def shipping")]
SHIPPING = SOURCE[SOURCE.index("  def shipping") : SOURCE.index("  def has(line")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit

REFORMATTED = SOURCE.replace("  ", "    ").replace(
    "(url: String, retries: Int = 3)", "(\n  url: String,\n  retries: Int = 3\n)"
)
REFORMATTED = REFORMATTED.replace("return answer.body\n", "return answer.body;\n").replace(
    "sum * rate + shipping()", "sum * rate +\n shipping()"
)

MUTATIONS = {
    "rename": edit(
        "def fetch(", "def download(", Web__fetch=f"moved: renamed to Web.download -> {PATH}::Web.download", Web="fresh"
    ),
    "rename_class": edit(
        "class Order(",
        "class Cart(",
        Order=f"moved: renamed to Cart -> {PATH}::Cart",
        Order__total=f"moved: moved to Cart.total -> {PATH}::Cart.total",
    ),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "src/shop/Net.scala": "package shop\n\nobject Net {\n" + FETCH + "}\n"},
        {"Web.fetch": "moved -> src/shop/Net.scala::Net.fetch", "Web.outer": "fresh", "Web": "fresh"},
    ),
    "package": edit("package shop", "package acme.shop", Web="fresh", Order__total="fresh"),
    "reformat": Mutation(
        {PATH: REFORMATTED}, {name: "fresh" for name in ("Web", "Web.fetch", "Order", "Order.total", "Web.outer")}
    ),
    "comment": edit("// wait a little", "/* wait /* some */ more */", Web__fetch="fresh", Web="fresh"),
    "documentation": edit("Fetches a page.", "Fetches it.\n   * @param url where", Web__fetch="fresh"),
    "body": edit("1 << attempt", "attempt", Web__fetch="drifted: body changed", Web="fresh", Order="fresh"),
    "property": edit("lines.size * 1", "lines.size * 2", Order__count="drifted", Order="fresh"),
    "constant": edit("Retries = 3", "Retries = 5", Web__Retries="drifted", Web__fetch="fresh"),
    "parameter": edit(
        "retries: Int = 3)", "retries: Int = 3, timeout: Int = 5)", Web__fetch="changed: signature: timeout added"
    ),
    "type": edit("url: String", "url: Uri", Web__fetch="changed: url changed"),
    "constructor": edit("Order(lines:", "Order(val lines:", Order="changed", Order__total="fresh"),
    "default": edit("rate: Double = 1.0", "rate: Double = 2.0", Order__total="changed: default of rate changed"),
    "decorator": edit(
        "  def outer(", "  @tailrec\n  def outer(", Web__outer="changed: decorator added", Web__outer__inner="fresh"
    ),
    "modifier": edit("  def shipping", "  private def shipping", Order__shipping="changed", Order="fresh"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"Web.fetch": "orphaned: Web.fetch deleted", "Order.shipping": "orphaned", "Order": "fresh", "Web": "fresh"},
    ),
    "split": Mutation(
        {
            PATH: None,
            "src/shop/Order.scala": "package shop\n\n" + ORDER,
            "src/shop/Web.scala": SOURCE.replace(ORDER, ""),
        },
        {
            "Order": "moved -> src/shop/Order.scala::Order",
            "Order.total": "moved -> src/shop/Order.scala::Order.total",
            "Web.outer.inner": "moved -> src/shop/Web.scala::Web.outer.inner",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + TOTAL)},
        {"Order.total": "fresh", "Order.shipping": "fresh", "Order": "fresh"},
    ),
    "overload": edit("_.id == id", "_.id != id", **{"Order.has#2": "drifted", "Order": "fresh"}),
    "companion": Mutation(
        {PATH: SOURCE + "\nobject Order {\n  def empty = new Order(Nil)\n}\n"},
        {"Order": "fresh", "Order.total": "fresh"},
    ),
    "other_overload": edit("contains(line)", "contains(line.copy())", **{"Order.has#2": "fresh", "Order": "fresh"}),
    "nested": edit("value * 2", "value * 3", Web__outer__inner="drifted", Web__outer="drifted", Web__fetch="fresh"),
    "syntax_error": edit(
        "(lines.size < 3) 5 else 0", "(lines.size < 3", Order__shipping="unverified", Web__fetch="fresh"
    ),
    "conflict": edit(
        "      Thread.sleep(1 << attempt)\n",
        "<<<<<<< HEAD\n      Thread.sleep(1 << attempt)\n=======\n      Thread.sleep(1)\n>>>>>>> other\n",
        Web__fetch="unverified: syntax error",
        Web__outer="fresh",
        Order__total="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"Web.fetch": "fresh", "Order": "fresh"}),
}

MATRIX = EMPTY._replace(mutations=MUTATIONS)
