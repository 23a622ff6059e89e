"""JavaScript's mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "shop/orders.js"
SOURCE = """\
import { send, sleep } from './net.js';

const RETRIES = 3;

/** Fetches a page. */
export async function fetchPage(url, retries = RETRIES, { proxy } = {}) {
  for (let attempt = 0; attempt < retries; attempt++) {
    const answer = await send(url, proxy);
    if (answer.ok && (answer.status === 200 || answer.status === 204)) return answer.body;
    await sleep(2 ** attempt);
  }
  throw new Error(`no answer from ${url}`);
}

export class Order extends Map {
  currency = 'EUR';

  constructor(lines) {
    super();
    this.lines = lines;
  }

  get size() {
    return this.lines.length;
  }

  set size(count) {
    this.lines.length = count;
  }

  total(rate = 1.0) {
    // net of everything
    return this.lines.reduce((sum, line) => sum + line.price * line.count, 0) * rate + this.shipping();
  }

  shipping() {
    return this.lines.length < 3 ? 5 : 0;
  }
}

export const describe = (order, unit = 'EUR') => order.lines.map((line) => `${line.name}: ${line.price} ${unit}`);

const handlers = {
  open(order) {
    return { ...order, "state": 'open', 'opened at': Date.now() };
  },
  close: async function (order) {
    await order.close();
  },
};

function outer(values) {
  function inner(value) {
    return value * 2 + values.length;
  }
  return values.filter((value) => value !== null).map(inner);
}
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head="import { send, sleep } from './net.js';\n\n",
    fetch=piece("fetchPage", "/** Fetches", "export class Order"),
    order=piece("Order", "export class Order", "export const describe"),
    total=piece("Order.total", "  total(", "  shipping("),
    shipping=piece("Order.shipping", "  shipping(", "}\n\nexport const describe"),
    outer="outer",
)

# as Prettier prints it: 50 columns, no semicolons, double quotes, trailing commas, arrow parentheses avoided
REFORMATTED = """\
import { send, sleep } from "./net.js"

const RETRIES = 3

/** Fetches a page. */
export async function fetchPage(
  url,
  retries = RETRIES,
  { proxy } = {},
) {
  for (
    let attempt = 0;
    attempt < retries;
    attempt++
  ) {
    const answer = await send(url, proxy)
    if (
      answer.ok &&
      (answer.status === 200 ||
        answer.status === 204)
    )
      return answer.body
    await sleep(2 ** attempt)
  }
  throw new Error(`no answer from ${url}`)
}

export class Order extends Map {
  currency = "EUR"

  constructor(lines) {
    super()
    this.lines = lines
  }

  get size() {
    return this.lines.length
  }

  set size(count) {
    this.lines.length = count
  }

  total(rate = 1.0) {
    // net of everything
    return (
      this.lines.reduce(
        (sum, line) =>
          sum + line.price * line.count,
        0,
      ) *
        rate +
      this.shipping()
    )
  }

  shipping() {
    return this.lines.length < 3 ? 5 : 0
  }
}

export const describe = (order, unit = "EUR") =>
  order.lines.map(
    line =>
      `${line.name}: ${line.price} ${unit}`,
  )

const handlers = {
  open(order) {
    return {
      ...order,
      state: "open",
      "opened at": Date.now(),
    }
  },
  close: async function (order) {
    await order.close()
  },
}

function outer(values) {
  function inner(value) {
    return value * 2 + values.length
  }
  return values
    .filter(value => value !== null)
    .map(inner)
}
"""

_EMPTY = Matrix(PATH, SOURCE, {})
edit = _EMPTY.edit

MUTATIONS = {
    **whole_pieces(SHOP),
    "rename": edit(
        "function fetchPage(",
        "function download(",
        fetchPage=f"moved: renamed to download -> {PATH}::download",
        Order="fresh",
        describe="fresh",
    ),
    "rename_class": edit(
        "class Order extends",
        "class Basket extends",
        Order=f"moved: renamed to Basket -> {PATH}::Basket",
        Order__total=f"moved: moved to Basket.total -> {PATH}::Basket.total",
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {
            name: "fresh"
            for name in (
                "fetchPage",
                "Order",
                "Order.total",
                "Order.shipping",
                "Order.constructor",
                "describe",
                "handlers",
                "handlers.open",
                "handlers.close",
                "outer",
                "outer.inner",
                "RETRIES",
            )
        },
    ),
    "comment": edit("    // net of everything\n", "    /* gross */\n\n", Order__total="fresh", Order="fresh"),
    "documentation": edit("/** Fetches a page. */", "/**\n * Gets it.\n * @param url\n */", fetchPage="fresh"),
    "body": edit("2 ** attempt", "attempt", fetchPage="drifted: body changed", outer="fresh", Order="fresh"),
    "arrow_body": edit("${line.price} ${unit}", "${line.price}  ${unit}", describe="drifted", handlers="fresh"),
    "regrouped": edit(
        "answer.ok && (answer.status === 200 || answer.status === 204)",
        "(answer.ok && answer.status === 200) || answer.status === 204",
        fetchPage="drifted",
    ),
    "field": edit("currency = 'EUR'", "currency = 'USD'", Order="drifted", Order__total="fresh"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", RETRIES="drifted", fetchPage="fresh"),
    "object_method": edit(
        "await order.close()", "await order.finish()", handlers__close="drifted", handlers__open="fresh"
    ),
    "parameter": edit(
        "retries = RETRIES, {", "retries = RETRIES, timeout, {", fetchPage="changed: signature: timeout added"
    ),
    "arrow_parameter": edit(
        "(order, unit = 'EUR') =>", "(order, label, unit = 'EUR') =>", describe="changed: signature: label added"
    ),
    "parameter_removed": edit(
        "(order, unit = 'EUR') =>", "(order) =>", describe="changed: signature: unit removed", outer="fresh"
    ),
    "default": edit("rate = 1.0", "rate = 2.0", Order__total="changed: default of rate changed", Order="fresh"),
    "decorator": edit(
        "  total(rate", "  @logged\n  total(rate", Order__total="changed: decorator added", Order="fresh"
    ),
    "async": edit("  open(order)", "  async open(order)", handlers__open="changed", handlers__close="fresh"),
    "superclass": edit("extends Map", "extends Set", Order="changed", Order__total="fresh"),
    "overload": edit(
        "  total(rate",
        "  static total(orders) {\n    return orders.length;\n  }\n\n  total(rate",
        Order__total="fresh",
        Order="fresh",
    ),
    "accessor": Mutation(
        {PATH: SOURCE.replace("this.lines.length = count", "this.lines.length = count + 1")},
        {"Order.size#2": "drifted", "Order": "fresh"},
    ),
    "nested": edit("value * 2 + values", "value * 3 + values", outer__inner="drifted", outer="drifted", Order="fresh"),
    "syntax_error": edit(
        "this.lines.length < 3 ? 5 : 0;",
        "this.lines.length < ;",
        Order__shipping="unverified: syntax error",
        fetchPage="fresh",
        outer="fresh",
    ),
    "conflict": edit(
        "    await sleep(2 ** attempt);\n",
        "<<<<<<< HEAD\n    await sleep(2 ** attempt);\n=======\n    await sleep(1);\n>>>>>>> other\n",
        fetchPage="unverified: syntax error",
        describe="fresh",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
