"""C's mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "src/orders.c"
SOURCE = """\
#include "orders.h"

#define RETRIES 3
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static int limit = 10;

/* Fetches a page. */
char *fetch(const char *url, int retries, struct proxy *proxy)
{
    for (int attempt = 0; attempt < retries; attempt++) {
        struct answer *answer = send_request(url, proxy);
        if (answer->ok)
            return answer->body;
        sleep(1 << attempt);
    }
    log_error("no answer from %s after many tries\\n", url);
    return NULL;
}

/* An order. */
typedef struct order {
    struct line *lines;
    size_t count;
} order_t;

double order_total(const order_t *order, double rate)
{
    double sum = 0;
    // net of everything
    for (size_t i = 0; i < order->count; i++)
        sum += order->lines[i].price * order->lines[i].count;
    return sum * rate + order_shipping(order);
}

static double order_shipping(const order_t *order)
{
    return order->count < 3 ? 5 : 0;
}

enum state { OPEN, CLOSED = 4 };

typedef int (*handler)(order_t *order);

#ifdef WIDE
static int width(void) { return 64 * limit; }
#else
static int width(void) { return 32 * limit; }
#endif

int outer(int *values, int count)
{
    struct inner { int doubled; } inner = {0};
    for (int i = 0; i < count; i++)
        inner.doubled += values[i] * 2 + count;
    return inner.doubled;
}
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head='#include "orders.h"\n\n',
    fetch=piece("fetch", "/* Fetches", "/* An order"),
    order=piece("order_t", "/* An order", "enum state"),
    total=piece("order_total", "double order_total", "static double order_shipping"),
    shipping=piece("order_shipping", "static double order_shipping", "enum state"),
    outer="outer",
)

# as clang-format prints it in GNU style at 60 columns
REFORMATTED = """\
#include "orders.h"

#define RETRIES 3
#define MAX(a, b)                                          \\
  ((a) > (b) ? (a) : (b)) /* the greater */

static int limit = 10;

/* Fetches a page. */
char *
fetch (const char *url, int retries, struct proxy *proxy)
{
  for (int attempt = 0; attempt < retries; attempt++)
    {
      struct answer *answer = send_request (url, proxy);
      if (answer->ok)
        return answer->body;
      sleep (1 << attempt);
    }
  log_error ("no answer from %s after "
             "many tries\\n",
             url);
  return NULL;
}

/* An order. */
typedef struct order
{
  struct line *lines;
  size_t count;
} order_t;

double
order_total (const order_t *order, double rate)
{
  double sum = 0;
  // net of everything
  for (size_t i = 0; i < order->count; i++)
    sum += order->lines[i].price * order->lines[i].count;
  return sum * rate + order_shipping (order);
}

static double
order_shipping (const order_t *order)
{
  return order->count < 3 ? 5 : 0;
}

enum state
{
  OPEN,
  CLOSED = 4,
};

typedef int (*handler) (order_t *order);

#ifdef WIDE
static int
width (void)
{
  return 64 * limit;
}
#else
static int
width (void)
{
  return 32 * limit;
}
#endif

int
outer (int *values, int count)
{
  struct inner
  {
    int doubled;
  } inner = { 0 };
  for (int i = 0; i < count; i++)
    inner.doubled += values[i] * 2 + count;
  return inner.doubled;
}
"""

_EMPTY = Matrix(PATH, SOURCE, {}, without=("default", "decorator"))
edit = _EMPTY.edit

MUTATIONS = {
    **whole_pieces(SHOP),
    "rename": edit(
        "char *fetch(", "char *download(", fetch=f"moved: renamed to download -> {PATH}::download", order_t="fresh"
    ),
    "rename_type": edit("} order_t;", "} basket_t;", order_t=f"moved: renamed to basket_t -> {PATH}::basket_t"),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {
            name: "fresh"
            for name in (
                "MAX",
                "fetch",
                "order_t",
                "order_total",
                "order_shipping",
                "state",
                "handler",
                "width#2",
                "outer",
                "outer.inner",
                "RETRIES",
            )
        },
    ),
    "comment": edit("    // net of everything\n", "    /* gross */\n\n", order_total="fresh", order_t="fresh"),
    "documentation": edit("/* Fetches a page. */", "/*\n * Gets it.\n */", fetch="fresh"),
    "macro_comment": edit("? (a) : (b))", "? (a) : (b)) // greater", MAX="fresh"),
    "macro": edit("((a) > (b)", "((a) >= (b)", MAX="drifted", RETRIES="fresh"),
    "macro_parameter": edit("MAX(a, b)", "MAX(a, b, c)", MAX="changed: signature: c added"),
    "body": edit("1 << attempt", "attempt", fetch="drifted: body changed", outer="fresh", order_t="fresh"),
    "string": edit("many tries", "some tries", fetch="drifted"),
    "field": edit("    size_t count;\n}", "    long count;\n}", order_t="drifted", order_total="fresh"),
    "constant": edit("RETRIES 3", "RETRIES 5", RETRIES="drifted", fetch="fresh"),
    "variable": edit("limit = 10", "limit = 20", limit="drifted"),
    "enum": edit("CLOSED = 4", "CLOSED = 5", state="drifted"),
    "type": edit("typedef int (*handler)", "typedef long (*handler)", handler="drifted"),
    "parameter": edit(
        "int retries, struct proxy *proxy)",
        "int retries, int timeout, struct proxy *proxy)",
        fetch="changed: signature: timeout added",
    ),
    "parameter_removed": edit(", struct proxy *proxy)", ")", fetch="changed: signature: proxy removed"),
    "result": edit("double order_total(", "float order_total(", order_total="changed", order_t="fresh"),
    "attribute": edit("char *fetch(", "__attribute__((hot)) char *fetch(", fetch="changed: decorator added"),
    "prototype": edit("static int limit", "int outer(int *values, int count);\nstatic int limit", outer="fresh"),
    "overload": edit("64 * limit", "128 * limit", **{"width#2": "fresh"}),
    "nested": edit(
        "struct inner { int doubled; }",
        "struct inner { long doubled; }",
        outer__inner="drifted",
        outer="drifted",
        fetch="fresh",
    ),
    "syntax_error": edit(
        "return order->count < 3 ? 5 : 0;",
        "return order->count < ;",
        order_shipping="unverified: syntax error",
        fetch="fresh",
        order_total="fresh",
    ),
    "conflict": edit(
        "        sleep(1 << attempt);\n",
        "<<<<<<< HEAD\n        sleep(1 << attempt);\n=======\n        sleep(1);\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        outer="fresh",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
