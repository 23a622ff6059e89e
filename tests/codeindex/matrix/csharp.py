"""C#'s mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
using System;

namespace Shop
{
    public class Web
    {
        private const int Retries = 3;

        /// <summary>Fetches a page.</summary>
        public string Fetch(string url, int retries = 3)
        {
            for (var attempt = 0; attempt < retries; attempt++)
            {
                var answer = Send(url, attempt);
                if (answer.Ok) return answer.Body;
                // wait a little
                Wait(1 << attempt);
            }
            throw new TimeoutException(url);
        }

        public int Outer(int[] values)
        {
            int Inner(int value)
            {
                return value * 2 + values.Length;
            }
            return values.Where(value => value > 0).Sum(Inner);
        }
    }

    public class Order : Basket
    {
        private readonly List<Line> lines = new();

        public int Count => lines.Count * 1;

        public void Add(Line line)
        {
            lines.Add(line.Checked());
        }

        public void Add(Line line, int count)
        {
            for (var i = 0; i < count; i++) lines.Add(line);
        }

        public decimal Total(decimal rate = 1m)
        {
            return lines.Sum(line => line.Price * line.Count) * rate + Shipping();
        }

        public decimal Shipping()
        {
            return lines.Count < 3 ? 5 : 0;
        }
    }
}
"""

PATH = "Shop/Orders.cs"
FETCH = SOURCE[SOURCE.index("        /// <summary>") : SOURCE.index("        public int Outer")]
ORDER = SOURCE[SOURCE.index("    public class Order") : SOURCE.rindex("}")]
TOTAL = SOURCE[SOURCE.index("        public decimal Total") : SOURCE.index("        public decimal Shipping")]
SHIPPING = SOURCE[SOURCE.index("        public decimal Shipping") : SOURCE.rindex("    }")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit


def spaced(*members: str) -> str:
    return "namespace Shop\n{\n" + "".join(members) + "}\n"


# file-scoped namespace, braces at the ends of lines, other indentation, wrapped parameters
REFORMATTED = SOURCE.replace("\n    {\n", " {\n").replace("\n        {\n", " {\n").replace("    ", "\t")
REFORMATTED = REFORMATTED.replace("namespace Shop\n{\n", "namespace Shop;\n").removesuffix("}\n")
REFORMATTED = REFORMATTED.replace("(string url, int retries = 3)", "(\n\t\tstring url,\n\t\tint retries = 3\n\t)")
REFORMATTED = REFORMATTED.replace("\tpublic class Order", "#region orders\n\tpublic class Order") + "#endregion\n"

MUTATIONS = {
    "rename": edit("string Fetch(", "string Download(", Web__Fetch="moved: renamed to Web.Download", Web="fresh"),
    "rename_class": edit(
        "class Order : Basket",
        "class Cart : Basket",
        Order=f"moved: renamed to Cart -> {PATH}::Cart",
        Order__Total=f"moved: moved to Cart.Total -> {PATH}::Cart.Total",
        Web="fresh",
    ),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "Shop/Net.cs": spaced("public class Net\n{\n", FETCH, "}\n")},
        {"Web.Fetch": "moved -> Shop/Net.cs::Net.Fetch", "Web.Outer": "fresh", "Web": "fresh"},
    ),
    "move_file": Mutation(
        {PATH: None, "Carts/Orders.cs": SOURCE.replace("namespace Shop", "namespace Carts")},
        {"Web.Fetch": "moved -> Carts/Orders.cs::Web.Fetch", "Order.Total": "moved -> Carts/Orders.cs::Order.Total"},
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {name: "fresh" for name in ("Web", "Web.Fetch", "Web.Outer", "Order", "Order.Total", "Order.Count")},
    ),
    "comment": edit("// wait a little", "/* wait\n some more */ // or not", Web__Fetch="fresh", Web="fresh"),
    "documentation": edit("Fetches a page.", "Fetches it.", Web__Fetch="fresh"),
    "body": edit("Wait(1 << attempt)", "Wait(attempt)", Web__Fetch="drifted: body changed", Web="fresh", Order="fresh"),
    "property": edit("lines.Count * 1", "lines.Count * 2", Order__Count="drifted", Order="fresh"),
    "constant": edit("Retries = 3", "Retries = 4", Web__Retries="drifted", Web="fresh"),
    "field": edit("lines = new()", "lines = new(8)", Order="drifted", Order__Total="fresh"),
    "parameter": edit(
        "int retries = 3)", "int retries = 3, int timeout = 9)", Web__Fetch="changed: signature: timeout added"
    ),
    "type": edit("int[] values)", "long[] values)", Web__Outer="changed: values changed", Web__Outer__Inner="fresh"),
    "default": edit("rate = 1m", "rate = 2m", Order__Total="changed: default of rate changed", Order="fresh"),
    "decorator": edit(
        "        public int Outer", "        [Pure]\n        public int Outer", Web__Outer="changed: decorator added"
    ),
    "modifier": edit("public decimal Shipping", "internal decimal Shipping", Order__Shipping="changed"),
    "superclass": edit("Order : Basket", "Order : Basket, IOrder", Order="changed", Order__Total="fresh"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"Web.Fetch": "orphaned: Web.Fetch deleted", "Order.Shipping": "orphaned", "Order": "fresh"},
    ),
    "split": Mutation(
        {PATH: None, "Shop/Order.cs": spaced(ORDER), "Shop/Web.cs": SOURCE.replace(ORDER, "")},
        {
            "Order": "moved -> Shop/Order.cs::Order",
            "Order.Total": "moved -> Shop/Order.cs::Order.Total",
            "Web.Outer.Inner": "moved -> Shop/Web.cs::Web.Outer.Inner",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + "\n" + TOTAL)},
        {"Order.Total": "fresh", "Order.Shipping": "fresh", "Order": "fresh"},
    ),
    "overload": Mutation(
        {PATH: SOURCE.replace("lines.Add(line.Checked())", "lines.Add(line)")},
        {"Order.Add#2": "fresh", "Order": "fresh"},
    ),
    "other_overload": Mutation(
        {PATH: SOURCE.replace("i++) lines", "++i) lines")}, {"Order.Add#2": "drifted", "Order": "fresh"}
    ),
    "overload_added": edit(
        "        public void Add(Line line)\n",
        "        public void Add() => Add(new Line());\n\n        public void Add(Line line)\n",
        Order__Total="fresh",
        Order="fresh",
        **{"Order.Add#2": "fresh"},
    ),
    "nested": edit(
        "value * 2", "value * 3", Web__Outer__Inner="drifted", Web__Outer="drifted", Web__Fetch="fresh", Web="fresh"
    ),
    "syntax_error": edit(
        "lines.Count < 3 ? 5 : 0;", "lines.Count < ;", Order__Shipping="unverified: syntax error", Web__Fetch="fresh"
    ),
    "conflict": edit(
        "                Wait(1 << attempt);\n",
        "<<<<<<< HEAD\n                Wait(1 << attempt);\n=======\n                Wait(1);\n>>>>>>> other\n",
        Web__Fetch="unverified: syntax error",
        Web__Outer="fresh",
        Order__Total="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"Web.Fetch": "fresh", "Order": "fresh"}),
}

MATRIX = EMPTY._replace(mutations=MUTATIONS)
