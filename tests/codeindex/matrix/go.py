"""Go's mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "shop/orders.go"
SOURCE = """\
package shop

import "time"

const Retries = 3

var ErrTimeout = errors.New("timeout")

// Fetch fetches a page.
func Fetch(url string, retries int, proxy *Proxy) (string, error) {
	for attempt := 0; attempt < retries; attempt++ {
		answer := send(url, proxy)
		if answer.OK {
			return answer.Body, nil
		}
		time.Sleep(1 << attempt)
	}
	return "", ErrTimeout
}

// Order is an order.
type Order struct {
	Lines    []Line `json:"lines"`
	Currency string
}

func (o *Order) Total(rate float64) float64 {
	sum := 0.0
	// net of everything
	for _, line := range o.Lines {
		sum += line.Price * float64(line.Count)
	}
	return sum*rate + o.Shipping()
}

func (o *Order) Shipping() float64 {
	if len(o.Lines) < 3 {
		return 5
	}
	return 0
}

type Priced interface {
	Total(rate float64) float64
}

type Handler func(order *Order) error

func Outer(values []int) []int {
	inner := func(value int) int {
		return value*2 + len(values)
	}
	return each(values, inner)
}

func init() {
	register("order", Outer)
}

func init() {
	register("line", Outer)
}
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head='package shop\n\nimport "time"\n\n',
    fetch=piece("Fetch", "// Fetch", "// Order"),
    order=piece("Order", "// Order", "type Priced"),
    total=piece("Order.Total", "func (o *Order) Total", "func (o *Order) Shipping"),
    shipping=piece("Order.Shipping", "func (o *Order) Shipping", "type Priced"),
    outer="Outer",
)

REFORMATTED = SOURCE.replace(
    "(url string, retries int, proxy *Proxy)", "(\n\turl string,\n\tretries int,\n\tproxy *Proxy,\n)"
)
REFORMATTED = REFORMATTED.replace("\t", "    ").replace("Lines    []Line", "Lines []Line")
REFORMATTED = REFORMATTED.replace("sum*rate + o", "sum * rate + o").replace(
    "return each(values, inner)", "return each(\n\t\tvalues,\n\t\tinner,\n\t)"
)
REFORMATTED = REFORMATTED.replace("        return 5\n    }\n    return 0\n", "        return 5 }; return 0\n")

_EMPTY = Matrix(PATH, SOURCE, {}, without=("default", "decorator"))
edit = _EMPTY.edit

MUTATIONS = {
    **whole_pieces(SHOP),
    "rename": edit(
        "func Fetch(", "func Download(", Fetch=f"moved: renamed to Download -> {PATH}::Download", Order="fresh"
    ),
    "rename_type": Mutation(
        {PATH: SOURCE.replace("type Order struct", "type Basket struct").replace("*Order)", "*Basket)")},
        {
            "Order": f"moved: renamed to Basket -> {PATH}::Basket",
            "Order.Total": f"moved: moved to Basket.Total -> {PATH}::Basket.Total",
            "Order.Shipping": f"moved -> {PATH}::Basket.Shipping",
        },
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {name: "fresh" for name in ("Fetch", "Order", "Order.Total", "Order.Shipping", "Priced", "Handler", "Outer")},
    ),
    "comment": edit("\t// net of everything\n", "\t/* gross */\n\n", Order__Total="fresh", Order="fresh"),
    "documentation": edit("// Fetch fetches a page.", "// Fetch gets it.\n//\n// Twice.", Fetch="fresh"),
    "body": edit("1 << attempt", "attempt", Fetch="drifted: body changed", Outer="fresh", Order="fresh"),
    "field": edit("\tCurrency string", "\tCurrency []byte", Order="drifted", Order__Total="fresh"),
    "tag": edit('`json:"lines"`', '`json:"rows"`', Order="drifted"),
    "constant": edit("Retries = 3", "Retries = 5", Retries="drifted", Fetch="fresh"),
    "variable": edit('"timeout"', '"late"', ErrTimeout="drifted", Fetch="fresh"),
    "parameter": edit(
        "retries int, proxy *Proxy)",
        "retries int, timeout int, proxy *Proxy)",
        Fetch="changed: signature: timeout added",
    ),
    "parameter_removed": edit(", proxy *Proxy)", ")", Fetch="changed: signature: proxy removed"),
    "parameter_type": edit("Total(rate float64) float64 {", "Total(rate int) float64 {", Order__Total="changed"),
    "receiver": edit("(o *Order) Total", "(o Order) Total", Order__Total="changed", Order="fresh"),
    "interface": edit(
        "\tTotal(rate float64) float64\n", "\tTotal() float64\n", Priced__Total="changed: signature: rate removed"
    ),
    "type": edit("type Handler func(order *Order) error", "type Handler func(order *Order)", Handler="drifted"),
    "overload": edit('register("order", Outer)', 'register("orders", Outer)', **{"init#2": "fresh"}, Outer="fresh"),
    "nested": edit("value*2 + len", "value*3 + len", Outer="drifted", Fetch="fresh"),
    "syntax_error": edit(
        "\tif len(o.Lines) < 3 {",
        "\tif len(o.Lines) < {",
        Order__Shipping="unverified: syntax error",
        Fetch="fresh",
        Order__Total="fresh",
    ),
    "conflict": edit(
        "\t\ttime.Sleep(1 << attempt)\n",
        "<<<<<<< HEAD\n\t\ttime.Sleep(1 << attempt)\n=======\n\t\ttime.Sleep(1)\n>>>>>>> other\n",
        Fetch="unverified: syntax error",
        Outer="fresh",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
