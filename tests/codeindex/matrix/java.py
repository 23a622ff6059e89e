"""Java's mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "src/shop/Shop.java"
SOURCE = """\
package shop;

import java.util.List;

class Net {
    static final int RETRIES = 3;

    /** Fetches a page. */
    static String fetch(String url, int retries, Proxy proxy) throws IOException {
        for (int attempt = 0; attempt < retries; attempt++) {
            Answer answer = send(url, proxy);
            if (answer.ok()) return answer.body();
            Thread.sleep(1 << attempt);
        }
        throw new IOException(url);
    }

    static List<Integer> outer(List<Integer> values) {
        class Inner {
            int apply(int value) {
                return value * 2 + values.size();
            }
        }
        return values.stream().map(value -> new Inner().apply(value)).toList();
    }
}

@Entity
final class Order extends Base implements Priced {
    private String currency = "EUR";
    private final List<Line> lines;

    Order(List<Line> lines) {
        this.lines = lines;
    }

    @Override
    public double total(double rate) {
        // net of everything
        return lines.stream().mapToDouble(line -> line.price() * line.count()).sum() * rate + shipping();
    }

    @Deprecated
    double shipping() {
        return lines.size() < 3 ? 5 : 0;
    }

    Line find(int id) {
        return lines.get(id);
    }

    Line find(String name) {
        return lines.stream().filter(line -> line.name().equals(name)).findFirst().orElse(null);
    }
}

interface Priced {
    int CENTS = 100;

    double total(double rate);
}

record Line(double price, int count, String name) {
    Line {
        check(price);
    }
}

enum State {
    OPEN,
    CLOSED;

    boolean isOpen() {
        return this == OPEN;
    }
}
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head="package shop;\n\nimport java.util.List;\n\n",
    fetch=piece("Net", "class Net", "@Entity"),
    order=piece("Order", "@Entity", "interface Priced"),
    total=piece("Order.total", "    @Override", "    @Deprecated"),
    shipping=piece("Order.shipping", "    @Deprecated", "    Line find(int"),
    outer="Priced",
)

REFORMATTED = SOURCE.replace(
    "(String url, int retries, Proxy proxy) throws IOException {",
    "(\n            String url,\n            int retries,\n            Proxy proxy)\n        throws IOException\n    {",
)
REFORMATTED = (
    REFORMATTED.replace("    ", "  ")
    .replace("@Override\n", "@Override ")
    .replace("lines.stream()", "lines\n  .stream()")
)
REFORMATTED = REFORMATTED.replace("  OPEN,\n  CLOSED;\n", "  OPEN, CLOSED,\n  ;\n").replace(
    "    }\n  }\n", "    } };\n"
)

_EMPTY = Matrix(PATH, SOURCE, {}, without=("default",))
edit = _EMPTY.edit

MUTATIONS = {
    **whole_pieces(SHOP),
    "rename": edit(
        "String fetch(",
        "String download(",
        Net__fetch=f"moved: renamed to Net.download -> {PATH}::Net.download",
        Net="fresh",
        Net__outer="fresh",
    ),
    "rename_class": edit(
        "final class Order extends",
        "final class Basket extends",
        Order=f"moved: renamed to Basket -> {PATH}::Basket",
        Order__total=f"moved: moved to Basket.total -> {PATH}::Basket.total",
    ),
    "move_method": Mutation(
        {
            PATH: SOURCE.replace(SHOP.shipping.text, "").replace(
                "record Line(double price, int count, String name) {\n",
                "record Line(double price, int count, String name) {\n" + SHOP.shipping.text,
            )
        },
        {"Order.shipping": f"moved: moved to Line.shipping -> {PATH}::Line.shipping", "Order": "fresh"},
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {
            name: "fresh"
            for name in (
                "Net",
                "Net.fetch",
                "Net.outer",
                "Net.outer.Inner.apply",
                "Order",
                "Order.total",
                "Order.shipping",
                "Order.find#2",
                "Priced",
                "Priced.total",
                "Line",
                "Line.Line",
                "State.isOpen",
                "State",
            )
        },
    ),
    "comment": edit("        // net of everything\n", "        /* gross */\n\n", Order__total="fresh", Order="fresh"),
    "documentation": edit(
        "/** Fetches a page. */", "/**\n     * Gets it.\n     *\n     * @param url where\n     */", Net__fetch="fresh"
    ),
    "body": edit("1 << attempt", "attempt", Net__fetch="drifted: body changed", Net="fresh", Order="fresh"),
    "field": edit('currency = "EUR"', 'currency = "USD"', Order="drifted", Order__total="fresh"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", Net__RETRIES="drifted", Net="fresh", Net__fetch="fresh"),
    "enum": edit("    CLOSED;\n", "    CLOSED,\n    LOST;\n", State="drifted", State__isOpen="fresh"),
    "record": edit("int count, String name) {", "long count, String name) {", Line="changed", Line__Line="fresh"),
    "parameter": edit(
        "int retries, Proxy proxy)",
        "int retries, int timeout, Proxy proxy)",
        Net__fetch="changed: signature: timeout added",
    ),
    "parameter_removed": edit(", Proxy proxy)", ")", Net__fetch="changed: signature: proxy removed"),
    "throws": edit(" throws IOException", "", Net__fetch="changed", Net="fresh"),
    "modifier": edit("    public double total", "    protected double total", Order__total="changed", Order="fresh"),
    "decorator": edit("    @Deprecated\n", "", Order__shipping="changed: decorator removed", Order="fresh"),
    "class_annotation": edit(
        "@Entity\n", '@Entity(name = "order")\n', Order="changed: decorator", Order__total="fresh"
    ),
    "superclass": edit("extends Base", "extends Other", Order="changed", Order__total="fresh"),
    "overload": edit(
        "    Line find(int id) {",
        "    Line find(Line line) {\n        return line;\n    }\n\n    Line find(int id) {",
        **{"Order__find#2": "fresh"},
        Order="fresh",
    ),
    "nested": edit(
        "value * 2 + values",
        "value * 3 + values",
        Net__outer__Inner__apply="drifted",
        Net__outer="drifted",
        Net__outer__Inner="fresh",
        Net__fetch="fresh",
    ),
    "syntax_error": edit(
        "lines.size() < 3 ? 5 : 0;",
        "lines.size() < ;",
        Order__shipping="unverified: syntax error",
        Net__fetch="fresh",
        Order__total="fresh",
    ),
    "conflict": edit(
        "            Thread.sleep(1 << attempt);\n",
        "<<<<<<< HEAD\n            Thread.sleep(1 << attempt);\n=======\n            Thread.sleep(1);\n>>>>>>> other\n",
        Net__fetch="unverified: syntax error",
        Order__total="fresh",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
