"""PHP's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = """\
<?php

namespace Shop;

const RETRIES = 3;

/** Fetches a page. */
function fetch(string $url, int $retries = RETRIES): string
{
    for ($attempt = 0; $attempt < $retries; $attempt++) {
        $answer = send($url, ['attempt' => $attempt]);
        if ($answer->ok) {
            return $answer->body;
        }
        // wait a little
        sleep(2 ** $attempt);
    }
    throw new Timeout('no answer');
}

class Order extends Basket
{
    private array $lines = [];

    public function total(float $rate = 1.0): float
    {
        return array_sum(array_map(fn($line) => $line->price, $this->lines)) * $rate + $this->shipping();
    }

    public function shipping(): int
    {
        return count($this->lines) < 3 ? 5 : 0;
    }
}

function outer(array $values): array
{
    function inner(int $value): int
    {
        return $value * 2;
    }
    return array_map('inner', array_filter($values));
}
"""

PATH = "src/orders.php"
FETCH = SOURCE[SOURCE.index("/** Fetches") : SOURCE.index("class Order")]
ORDER = SOURCE[SOURCE.index("class Order") : SOURCE.index("function outer")]
TOTAL = SOURCE[SOURCE.index("    public function total") : SOURCE.index("    public function shipping")]
SHIPPING = SOURCE[SOURCE.index("    public function shipping") : SOURCE.index("}\n\nfunction outer")]

EMPTY = Matrix(PATH, SOURCE, {})
edit = EMPTY.edit

REFORMATTED = (
    SOURCE.replace("\n{\n", " {\n").replace("\n    {\n", " {\n").replace("    ", "\t").replace("$i = 0", "$i=0")
)
REFORMATTED = REFORMATTED.replace("['attempt' => $attempt]", '[\n"attempt"=>$attempt,\n]').replace(
    "'no answer'", '"no answer"'
)
REFORMATTED = REFORMATTED.replace(
    "string $url, int $retries = RETRIES", "\n\tstring $url,\n\tint $retries = RETRIES,\n"
)

MUTATIONS = {
    "rename": edit(
        "function fetch(", "function download(", fetch=f"moved: renamed to download -> {PATH}::download", outer="fresh"
    ),
    "rename_class": edit(
        "class Order extends",
        "class Cart extends",
        Order=f"moved: renamed to Cart -> {PATH}::Cart",
        Order__total=f"moved: moved to Cart.total -> {PATH}::Cart.total",
    ),
    "move": Mutation(
        {PATH: SOURCE.replace(FETCH, ""), "src/web.php": "<?php\n\n" + FETCH},
        {"fetch": "moved: moved to src/web.php -> src/web.php::fetch", "outer": "fresh"},
    ),
    "namespace": edit("namespace Shop;", "namespace Acme\\Shop;", fetch="fresh", Order="fresh", Order__total="fresh"),
    "reformat": Mutation(
        {PATH: REFORMATTED}, {name: "fresh" for name in ("fetch", "Order", "Order.total", "Order.shipping", "outer")}
    ),
    "comment": edit("// wait a little", "# wait\n        /* some more */", fetch="fresh", outer="fresh"),
    "documentation": edit("Fetches a page.", "Fetches it.\n * @return string\n", fetch="fresh"),
    "body": edit(
        "sleep(2 ** $attempt)", "sleep($attempt)", fetch="drifted: body changed", Order="fresh", outer="fresh"
    ),
    "interpolation": edit("'no answer'", "'no $answer'", fetch="drifted"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", RETRIES="drifted", fetch="fresh"),
    "field": edit("$lines = []", "$lines = null", Order="drifted", Order__total="fresh"),
    "parameter": edit(
        "= RETRIES)", "= RETRIES, int $timeout = 5)", fetch="changed: signature: timeout added", outer="fresh"
    ),
    "type": edit("float $rate = 1.0", "int $rate = 1.0", Order__total="changed: rate changed", Order="fresh"),
    "default": edit("$rate = 1.0", "$rate = 2.0", Order__total="changed: default of rate changed", Order="fresh"),
    "decorator": edit(
        "    public function shipping",
        "    #[Pure]\n    public function shipping",
        Order__shipping="changed: decorator added",
        Order="fresh",
    ),
    "modifier": edit("public function shipping", "private function shipping", Order__shipping="changed"),
    "superclass": edit("extends Basket", "extends Basket implements Counts", Order="changed", Order__total="fresh"),
    "delete": Mutation(
        {PATH: SOURCE.replace(FETCH, "").replace(SHIPPING, "")},
        {"fetch": "orphaned: fetch deleted", "Order.shipping": "orphaned", "Order": "fresh", "outer": "fresh"},
    ),
    "split": Mutation(
        {PATH: None, "src/Order.php": "<?php\n\n" + ORDER, "src/rest.php": SOURCE.replace(ORDER, "")},
        {
            "Order": "moved -> src/Order.php::Order",
            "Order.total": "moved -> src/Order.php::Order.total",
            "outer": "moved -> src/rest.php::outer",
        },
    ),
    "swap": Mutation(
        {PATH: SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + "\n" + TOTAL)},
        {"Order.total": "fresh", "Order.shipping": "fresh", "Order": "fresh"},
    ),
    "overload": edit(
        "function outer(",
        "if (PHP_VERSION_ID < 80000) {\n    function outer($values) { return []; }\n}\n\nfunction outer(",
        outer="fresh",
        fetch="fresh",
    ),
    "nested": edit("$value * 2", "$value * 3", outer__inner="drifted", outer="drifted", fetch="fresh"),
    "syntax_error": edit(
        "< 3 ? 5 : 0;", "< ;", Order__shipping="unverified: syntax error", fetch="fresh", outer="fresh"
    ),
    "conflict": edit(
        "        sleep(2 ** $attempt);\n",
        "<<<<<<< HEAD\n        sleep(2 ** $attempt);\n=======\n        sleep(1);\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        Order__total="fresh",
        outer="fresh",
    ),
    "line_endings": Mutation({PATH: SOURCE.replace("\n", "\r\n")}, {"fetch": "fresh", "Order": "fresh"}),
}

MATRIX = EMPTY._replace(mutations=MUTATIONS)
