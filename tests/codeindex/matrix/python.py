"""Python's mutation matrix."""

from __future__ import annotations

from tests.codeindex.mutations import Matrix, Mutation

SOURCE = '''\
"""Orders."""

import time

RETRIES = 3


def fetch(url, retries=RETRIES, *, proxy=None):
    """Fetch a page."""
    for attempt in range(retries):
        answer = send(url, proxy=proxy)
        if answer.ok:
            return answer.body
        time.sleep(2**attempt)
    raise TimeoutError(url)


class Order(dict):
    """An order."""

    currency = "EUR"

    def __init__(self, lines):
        self.lines = lines

    def total(self, rate=1.0):
        # net of everything
        return sum(line.price * line.count for line in self.lines) * rate + self.shipping()

    def shipping(self):
        return 5 if len(self.lines) < 3 else 0


def outer(values):
    def inner(value):
        return value * 2 + len(values)

    return [inner(value) for value in values if value is not None]
'''

FETCH = SOURCE[SOURCE.index("def fetch") : SOURCE.index("class Order")]
ORDER = SOURCE[SOURCE.index("class Order") : SOURCE.index("def outer")]
TOTAL = SOURCE[SOURCE.index("    def total") : SOURCE.index("    def shipping")]
SHIPPING = SOURCE[SOURCE.index("    def shipping") : SOURCE.index("\n\ndef outer")]

_EMPTY = Matrix("shop/orders.py", SOURCE, {})
edit = _EMPTY.edit


def files(changed: str | None, **others: str) -> dict[str, str | None]:
    return {"shop/orders.py": changed, **{f"shop/{name}.py": text for name, text in others.items()}}


REFORMATTED = SOURCE.replace(
    "def fetch(url, retries=RETRIES, *, proxy=None):",
    "def fetch(\n    url,\n    retries=RETRIES,\n    *,\n    proxy=None,\n):",
)
REFORMATTED = REFORMATTED.replace(
    "answer = send(url, proxy=proxy)", "answer = (\n            send(\n url, proxy=proxy,\n))"
)
REFORMATTED = REFORMATTED.replace('"EUR"', "'EUR'").replace("class Order(dict):", "class Order(dict,):")
REFORMATTED = REFORMATTED.replace("    return [inner(value) for", "    return [\n        inner(value)\n        for")

MUTATIONS = {
    "rename": edit(
        "def fetch(url",
        "def download(url",
        fetch="moved: renamed to download -> shop/orders.py::download",
        Order="fresh",
        Order__total="fresh",
    ),
    "rename_class": edit(
        "class Order(dict)",
        "class Basket(dict)",
        Order="moved: renamed to Basket -> shop/orders.py::Basket",
        Order__total="moved: moved to Basket.total -> shop/orders.py::Basket.total",
        Order__shipping="moved -> shop/orders.py::Basket.shipping",
    ),
    "move": Mutation(
        files(SOURCE.replace(FETCH, ""), web="import time\n\n" + FETCH),
        {"fetch": "moved: moved to shop/web.py -> shop/web.py::fetch", "outer": "fresh"},
    ),
    "move_and_edit": Mutation(
        files(SOURCE.replace(FETCH, ""), web="import time\n\n" + FETCH.replace("2**attempt", "1")),
        {"fetch": "drifted: moved to shop/web.py; body changed -> shop/web.py::fetch"},
    ),
    "move_file": Mutation(
        files(None, carts=SOURCE),
        {
            "fetch": "moved -> shop/carts.py::fetch",
            "Order.shipping": "moved -> shop/carts.py::Order.shipping",
            "Order": "moved -> shop/carts.py::Order",
        },
    ),
    "reformat": Mutation(
        files(REFORMATTED), {"fetch": "fresh", "Order": "fresh", "Order.total": "fresh", "outer": "fresh"}
    ),
    "comment": edit("        # net of everything\n", "        # gross\n\n", Order__total="fresh", Order="fresh"),
    "documentation": edit('"""Fetch a page."""', '"""Fetch it.\n\n    Twice."""', fetch="fresh"),
    "annotations": edit(
        "def total(self, rate=1.0):",
        "def total(self, rate: float = 1.0) -> float:",
        Order__total="fresh: annotations only",
        Order="fresh",
    ),
    "body": edit(
        "time.sleep(2**attempt)", "time.sleep(attempt)", fetch="drifted: body changed", outer="fresh", Order="fresh"
    ),
    "indentation": edit(
        "            return answer.body\n        time.sleep(2**attempt)",
        "            return answer.body\n            time.sleep(2**attempt)",
        fetch="drifted",
    ),
    "string": edit('currency = "EUR"', 'currency = "USD"', Order="drifted", Order__total="fresh"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", RETRIES="drifted", fetch="fresh"),
    "parameter": edit(
        "def fetch(url, retries=RETRIES, *, proxy=None)",
        "def fetch(url, retries=RETRIES, *, timeout, proxy=None)",
        fetch="changed: signature: timeout added",
    ),
    "parameter_removed": edit(
        "retries=RETRIES, *, proxy=None", "retries=RETRIES", fetch="changed: signature: proxy removed"
    ),
    "default": edit("rate=1.0", "rate=2.0", Order__total="changed: default of rate changed", Order="fresh"),
    "decorator": edit(
        "def outer(values)", "@cache\ndef outer(values)", outer="changed: decorator added", outer__inner="fresh"
    ),
    "async": edit("def fetch(", "async def fetch(", fetch="changed"),
    "superclass": edit("class Order(dict)", "class Order(list)", Order="changed", Order__total="fresh"),
    "delete": Mutation(
        files(SOURCE.replace(FETCH, "").replace(SHIPPING, "")),
        {"fetch": "orphaned: fetch deleted in", "Order.shipping": "orphaned", "Order": "fresh", "outer": "fresh"},
    ),
    "delete_file": Mutation(files(None), {"fetch": "orphaned", "Order.total": "orphaned"}),
    "split": Mutation(
        files(None, order=ORDER, rest=SOURCE.replace(ORDER, "")),
        {
            "Order": "moved -> shop/order.py::Order",
            "Order.total": "moved -> shop/order.py::Order.total",
            "fetch": "moved -> shop/rest.py::fetch",
            "outer.inner": "moved -> shop/rest.py::outer.inner",
        },
    ),
    "swap": Mutation(
        files(SOURCE.replace(TOTAL, "").replace(SHIPPING, SHIPPING + "\n" + TOTAL.rstrip() + "\n")),
        {"Order.total": "fresh", "Order.shipping": "fresh", "Order": "fresh"},
    ),
    "overload": edit(
        "def outer(values):",
        "def outer(values: str): ...\n\n\ndef outer(values):",
        outer="fresh",
    ),
    "copied": Mutation(files(SOURCE.replace(FETCH, ""), one=FETCH, two=FETCH), {"fetch": "orphaned"}),
    "nested": edit(
        "return value * 2 + len(values)",
        "return value * 3 + len(values)",
        outer__inner="drifted",
        outer="drifted",
        fetch="fresh",
    ),
    "syntax_error": edit(
        "        return 5 if len(self.lines) < 3 else 0",
        "        return 5 if len(self.lines) <",
        Order__shipping="unverified: syntax error",
        fetch="fresh",
        Order__total="fresh",
    ),
    "conflict": edit(
        "        time.sleep(2**attempt)\n",
        "<<<<<<< HEAD\n        time.sleep(2**attempt)\n=======\n        time.sleep(1)\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        Order__total="fresh",
    ),
    "line_endings": Mutation(
        files(SOURCE.replace("\n", "\r\n")), {"fetch": "fresh", "Order": "fresh", "Order.total": "fresh"}
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
