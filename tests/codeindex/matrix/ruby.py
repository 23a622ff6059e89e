"""Ruby's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
require "json"

RETRIES = 3

# Fetches a page.
def fetch(url, retries = RETRIES, proxy: nil)
  retries.times do |attempt|
    answer = deliver(url, proxy: proxy)
    return answer.body if answer.ok?
    # wait a little
    sleep 2**attempt
  end
  raise TimeoutError, "no answer"
end

module Shop
  class Order < Basket
    attr_reader :lines

    def initialize(lines)
      @lines = lines
    end

    def total(rate = 1.0)
      lines.sum { |line| line.price * line.count } * rate + shipping
    end

    def shipping
      lines.size < 3 ? 5 : 0
    end

    class << self
      def empty
        new([]).freeze
      end
    end

    define_method(:currency) { "EUR" }
  end
end

def outer(values)
  define_method(:inner) { |value| value * 2 + values.size }
  values.compact.map { |value| inner(value) }
end
"""

PATH = "lib/orders.rb"
FETCH = SOURCE[SOURCE.index("# Fetches") : SOURCE.index("module Shop")]
SHOP = SOURCE[SOURCE.index("module Shop") : SOURCE.index("def outer")]
TOTAL = SOURCE[SOURCE.index("    def total") : SOURCE.index("    def shipping")]
SHIPPING = SOURCE[SOURCE.index("    def shipping") : SOURCE.index("    class << self")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit

# parentheses of calls and definitions, line breaks, semicolons, indentation
REFORMATTED = SOURCE.replace("sleep 2**attempt", "sleep(\n      2**attempt\n    )")
REFORMATTED = REFORMATTED.replace('raise TimeoutError, "no answer"', "raise(TimeoutError, 'no answer')")
REFORMATTED = REFORMATTED.replace("def outer(values)", "def outer values").replace("  class", "class")
REFORMATTED = REFORMATTED.replace("def shipping\n      lines.size < 3 ? 5 : 0", "def shipping; lines.size < 3 ? 5 : 0;")

MUTATIONS = {
    "rename": edit(
        "def fetch(", "def download(", fetch=f"moved: renamed to download -> {PATH}::download", outer="fresh"
    ),
    "rename_class": edit(
        "class Order <",
        "class Cart <",
        Shop__Order=f"moved: renamed to Shop.Cart -> {PATH}::Shop.Cart",
        Shop__Order__total=f"moved: moved to Shop.Cart.total -> {PATH}::Shop.Cart.total",
        Shop="fresh",
    ),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "lib/web.rb": FETCH},
        {"fetch": "moved: moved to lib/web.rb -> lib/web.rb::fetch", "outer": "fresh"},
    ),
    "move_into_module": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "lib/web.rb": f"module Web\n{FETCH}end\n"},
        {"fetch": "moved -> lib/web.rb::Web.fetch", "outer": "fresh"},
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {name: "fresh" for name in ("fetch", "Shop", "Shop.Order", "Shop.Order.total", "Shop.Order.shipping", "outer")},
    ),
    "comment": edit("# wait a little", "# wait\n    # some more", fetch="fresh", outer="fresh"),
    "documentation": edit("# Fetches a page.\n", "=begin\nFetches it.\n=end\n", fetch="fresh"),
    "body": edit("sleep 2**attempt", "sleep attempt", fetch="drifted: body changed", Shop="fresh", outer="fresh"),
    "statements": edit("    sleep 2**attempt\n", "    sleep\n    2**attempt\n", fetch="drifted"),
    "string": edit('"no answer"', '"nobody"', fetch="drifted"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", RETRIES="drifted", fetch="fresh"),
    "attribute": edit("attr_reader :lines", "attr_accessor :lines", Shop__Order="drifted", Shop="fresh"),
    "singleton": edit("new([]).freeze", "new([])", Shop__Order__empty="drifted", Shop__Order="fresh"),
    "to_self": edit(
        "    class << self\n      def empty\n        new([]).freeze\n      end\n    end\n",
        "    def self.empty\n      new([]).freeze\n    end\n",
        Shop__Order__empty="changed",
    ),
    "dynamic": edit('"EUR"', '"USD"', Shop__Order__currency="drifted", Shop__Order="fresh"),
    "parameter": edit(
        "proxy: nil)", "proxy: nil, timeout: 5)", fetch="changed: signature: timeout added", outer="fresh"
    ),
    "parameter_removed": edit(", proxy: nil)", ")", fetch="changed: signature: proxy removed"),
    "default": edit(
        "rate = 1.0", "rate = 2.0", Shop__Order__total="changed: default of rate changed", Shop__Order="fresh"
    ),
    "decorator": edit(
        "    def shipping", "    private def shipping", Shop__Order__shipping="changed", Shop__Order="fresh"
    ),
    "superclass": edit("Order < Basket", "Order < Cart", Shop__Order="changed", Shop__Order__total="fresh"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"fetch": "orphaned: fetch deleted", "Shop.Order.shipping": "orphaned", "Shop.Order": "fresh"},
    ),
    "split": Mutation(
        {PATH: None, "lib/order.rb": SHOP, "lib/rest.rb": SOURCE.replace(SHOP, "")},
        {
            "Shop.Order": "moved -> lib/order.rb::Shop.Order",
            "Shop.Order.total": "moved -> lib/order.rb::Shop.Order.total",
            "outer": "moved -> lib/rest.rb::outer",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + TOTAL)},
        {"Shop.Order.total": "fresh", "Shop.Order.shipping": "fresh", "Shop.Order": "fresh"},
    ),
    "overload": edit("def outer(values)\n", "def outer; end\n\ndef outer(values)\n", outer="fresh", fetch="fresh"),
    "nested": edit("value * 2", "value * 3", outer__inner="drifted", outer="drifted", fetch="fresh"),
    "syntax_error": edit(
        "lines.size < 3 ? 5 : 0", "lines.size < (", Shop__Order__shipping="unverified: syntax error", fetch="fresh"
    ),
    "conflict": edit(
        "    sleep 2**attempt\n",
        "<<<<<<< HEAD\n    sleep 2**attempt\n=======\n    sleep 1\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        Shop__Order__total="fresh",
        outer="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"fetch": "fresh", "Shop.Order": "fresh"}),
}

MATRIX = EMPTY._replace(mutations=MUTATIONS)
