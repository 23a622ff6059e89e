"""TypeScript's mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "shop/orders.ts"
SOURCE = """\
import { send, sleep } from './net';

const RETRIES = 3;

export interface Line {
  price: number;
  count: number;
  describe(unit: string): string;
}

export type State = 'open' | 'closed' | { reason: string };

export enum Color {
  Red,
  Green = 'g',
}

/** Fetches a page. */
export async function fetchPage(url: string, retries: number = RETRIES, proxy?: string): Promise<string> {
  for (let attempt = 0; attempt < retries; attempt++) {
    const answer = (await send(url, proxy)) as any;
    if (answer.ok) return answer.body;
    await sleep(2 ** attempt);
  }
  throw new Error(`no answer from ${url}`);
}

@Entity({ name: 'order' })
export class Order extends Base {
  private currency = 'EUR';

  constructor(private readonly lines: Line[]) {
    super();
  }

  @logged()
  total(rate = 1.0): number {
    // net of everything
    return this.lines.reduce((sum, line) => sum + line.price * line.count, 0) * rate + this.shipping();
  }

  shipping(): number {
    return this.lines.length < 3 ? 5 : 0;
  }

  find(id: number): Line | undefined;
  find(name: string): Line | undefined;
  find(key: any): Line | undefined {
    return this.lines.find((line) => matches(line, key));
  }
}

export const describe = (order: Order, unit = 'EUR'): string => `${order.total()} ${unit}`;

function outer(values: Array<number | null>): number[] {
  function inner(value: number): number {
    return value * 2 + values.length;
  }
  return values.filter((value): value is number => value !== null).map(inner);
}
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head="import { send, sleep } from './net';\n\n",
    fetch=piece("fetchPage", "/** Fetches", "@Entity"),
    order=piece("Order", "@Entity", "export const describe"),
    total=piece("Order.total", "  @logged()", "  shipping("),
    shipping=piece("Order.shipping", "  shipping(", "  find(id"),
    outer="outer",
)

# as Prettier prints it: 50 columns, no semicolons, double quotes, trailing commas, arrow parentheses avoided
REFORMATTED = """\
import { send, sleep } from "./net"

const RETRIES = 3

export interface Line {
  price: number
  count: number
  describe(unit: string): string
}

export type State =
  | "open"
  | "closed"
  | { reason: string }

export enum Color {
  Red,
  Green = "g",
}

/** Fetches a page. */
export async function fetchPage(
  url: string,
  retries: number = RETRIES,
  proxy?: string,
): Promise<string> {
  for (
    let attempt = 0;
    attempt < retries;
    attempt++
  ) {
    const answer = (await send(url, proxy)) as any
    if (answer.ok) return answer.body
    await sleep(2 ** attempt)
  }
  throw new Error(`no answer from ${url}`)
}

@Entity({ name: "order" })
export class Order extends Base {
  private currency = "EUR"

  constructor(private readonly lines: Line[]) {
    super()
  }

  @logged()
  total(rate = 1.0): number {
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

  shipping(): number {
    return this.lines.length < 3 ? 5 : 0
  }

  find(id: number): Line | undefined
  find(name: string): Line | undefined
  find(key: any): Line | undefined {
    return this.lines.find(line =>
      matches(line, key),
    )
  }
}

export const describe = (
  order: Order,
  unit = "EUR",
): string => `${order.total()} ${unit}`

function outer(
  values: Array<number | null>,
): number[] {
  function inner(value: number): number {
    return value * 2 + values.length
  }
  return values
    .filter(
      (value): value is number => value !== null,
    )
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
                "Line",
                "Line.describe",
                "State",
                "Color",
                "fetchPage",
                "Order",
                "Order.constructor",
                "Order.total",
                "Order.shipping",
                "Order.find#2",
                "Order.find#3",
                "describe",
                "outer",
                "outer.inner",
                "RETRIES",
            )
        },
    ),
    "comment": edit("    // net of everything\n", "    /* gross */\n\n", Order__total="fresh", Order="fresh"),
    "documentation": edit("/** Fetches a page. */", "/**\n * Gets it.\n * @param url\n */", fetchPage="fresh"),
    "annotations": edit(
        "function inner(value: number): number {",
        "function inner(value: any) {",
        outer__inner="fresh: annotations only",
        outer="fresh: annotations only",
    ),
    "cast": edit("(await send(url, proxy)) as any;", "await send(url, proxy);", fetchPage="fresh: annotations only"),
    "accessibility": edit("  private currency", "  protected currency", Order="fresh: annotations only"),
    "interface": edit("  count: number;", "  count: string;", Line="drifted", Line__describe="fresh"),
    "type_alias": edit("'open' | 'closed'", "'open' | 'shut'", State="drifted", Color="fresh"),
    "enum": edit("Green = 'g'", "Green = 'green'", Color="drifted"),
    "body": edit("2 ** attempt", "attempt", fetchPage="drifted: body changed", outer="fresh", Order="fresh"),
    "field": edit("currency = 'EUR'", "currency = 'USD'", Order="drifted", Order__total="fresh"),
    "constant": edit("RETRIES = 3", "RETRIES = 5", RETRIES="drifted", fetchPage="fresh"),
    "parameter": edit(
        "proxy?: string)", "timeout: number, proxy?: string)", fetchPage="changed: signature: timeout added"
    ),
    "arrow_parameter": edit(
        "(order: Order, unit = 'EUR')", "(order: Order)", describe="changed: signature: unit removed"
    ),
    "default": edit("rate = 1.0", "rate = 2.0", Order__total="changed: default of rate changed", Order="fresh"),
    "decorator": edit("  @logged()\n", "", Order__total="changed: decorator removed", Order="fresh"),
    "class_decorator": edit(
        "{ name: 'order' }", "{ name: 'orders' }", Order="changed: decorator", Order__total="fresh"
    ),
    "overload": edit(
        "  find(name: string): Line",
        "  find(at: Date): Line | undefined;\n  find(name: string): Line",
        **{"Order__find#2": "fresh", "Order__find#3": "fresh"},
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
