"""C++'s mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "src/orders.cc"
SOURCE = """\
#include <vector>

constexpr int kRetries = 3;

// Fetches a page.
std::string Fetch(const std::string& url, int retries = kRetries, Proxy* proxy = nullptr) {
  for (int attempt = 0; attempt < retries; attempt++) {
    Answer answer = Send(url, proxy);
    if (answer.ok) return answer.body;
    Sleep(1 << attempt);
  }
  throw std::runtime_error("no answer from " + url);
}

// An order.
class Order : public Base {
 public:
  explicit Order(std::vector<Line> lines) : lines_(std::move(lines)) {}

  double Total(double rate = 1.0) const {
    // net of everything
    double sum = 0;
    for (const Line& line : lines_) sum += line.price * line.count;
    return sum * rate + Shipping();
  }

  [[nodiscard]] double Shipping() const { return lines_.size() < 3 ? 5 : 0; }

  const Line& Find(int id) const { return lines_.at(id); }
  const Line& Find(const std::string& name) const { return *by_name_.at(name); }

  bool Equals(const Order& other) const;

 private:
  std::vector<Line> lines_;
  std::string currency_ = "EUR";
};

bool Order::Equals(const Order& other) const { return lines_ == other.lines_; }

template <typename T>
T Largest(const std::vector<T>& values) {
  return *std::max_element(values.begin(), values.end());
}

enum class State { kOpen, kClosed = 4 };
using Lines = std::vector<Line>;

namespace detail {
int Outer(const std::vector<int>& values) {
  struct Inner {
    int Apply(int value) { return value * 2 + 1; }
  };
  return Inner().Apply(values.front()) + values.size();
}
}  // namespace detail
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head="#include <vector>\n\n",
    fetch=piece("Fetch", "// Fetches", "// An order"),
    order=piece("Order", "// An order", "template <typename T>"),
    total=piece("Order.Total", "  double Total", "  [[nodiscard]]"),
    shipping=piece("Order.Shipping", "  [[nodiscard]]", "  const Line& Find(int"),
    outer="detail.Outer",
)

# as clang-format prints it in Microsoft style at 60 columns
REFORMATTED = """\
#include <vector>

constexpr int kRetries = 3;

// Fetches a page.
std::string Fetch(const std::string &url,
                  int retries = kRetries,
                  Proxy *proxy = nullptr)
{
    for (int attempt = 0; attempt < retries; attempt++)
    {
        Answer answer = Send(url, proxy);
        if (answer.ok)
            return answer.body;
        Sleep(1 << attempt);
    }
    throw std::runtime_error("no answer "
                             "from " +
                             url);
}

// An order.
class Order : public Base
{
  public:
    explicit Order(std::vector<Line> lines)
        : lines_(std::move(lines))
    {
    }

    double Total(double rate = 1.0) const
    {
        // net of everything
        double sum = 0;
        for (const Line &line : lines_)
            sum += line.price * line.count;
        return sum * rate + Shipping();
    }

    [[nodiscard]] double Shipping() const
    {
        return lines_.size() < 3 ? 5 : 0;
    }

    const Line &Find(int id) const
    {
        return lines_.at(id);
    }
    const Line &Find(const std::string &name) const
    {
        return *by_name_.at(name);
    }

    bool Equals(const Order &other) const;

  private:
    std::vector<Line> lines_;
    std::string currency_ = "EUR";
};

bool Order::Equals(const Order &other) const
{
    return lines_ == other.lines_;
}

template <typename T>
T Largest(const std::vector<T> &values)
{
    return *std::max_element(values.begin(),
                             values.end());
}

enum class State
{
    kOpen,
    kClosed = 4,
};
using Lines = std::vector<Line>;

namespace detail
{
int Outer(const std::vector<int> &values)
{
    struct Inner
    {
        int Apply(int value)
        {
            return value * 2 + 1;
        }
    };
    return Inner().Apply(values.front()) +
           values.size();
}
} // namespace detail
"""

_EMPTY = Matrix(PATH, SOURCE, {})
edit = _EMPTY.edit

MUTATIONS = {
    **whole_pieces(SHOP),
    "rename": edit(
        "std::string Fetch(",
        "std::string Download(",
        Fetch=f"moved: renamed to Download -> {PATH}::Download",
        Order="fresh",
    ),
    "rename_class": Mutation(
        {PATH: SOURCE.replace("class Order :", "class Basket :").replace("bool Order::", "bool Basket::")},
        {
            "Order": f"moved: renamed to Basket -> {PATH}::Basket",
            "Order.Total": f"moved: moved to Basket.Total -> {PATH}::Basket.Total",
            "Order.Equals": f"moved -> {PATH}::Basket.Equals",
        },
    ),
    "rename_namespace": edit(
        "namespace detail {", "namespace inner {", detail__Outer=f"moved: moved to inner.Outer -> {PATH}::inner.Outer"
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {
            name: "fresh"
            for name in (
                "kRetries",
                "Fetch",
                "Order",
                "Order.Order",
                "Order.Total",
                "Order.Shipping",
                "Order.Find#2",
                "Order.Equals",
                "Largest",
                "State",
                "Lines",
                "detail",
                "detail.Outer",
                "detail.Outer.Inner.Apply",
            )
        },
    ),
    "comment": edit("    // net of everything\n", "    /* gross */\n\n", Order__Total="fresh", Order="fresh"),
    "documentation": edit("// Fetches a page.", "/// Gets it.\n///\n/// Twice.", Fetch="fresh"),
    "body": edit("1 << attempt", "attempt", Fetch="drifted: body changed", Order="fresh"),
    "member_body": edit(
        "return lines_ == other.lines_;",
        "return lines_.size() == other.lines_.size();",
        Order__Equals="drifted",
        Order="fresh",
    ),
    "field": edit('currency_ = "EUR"', 'currency_ = "USD"', Order="drifted", Order__Total="fresh"),
    "constant": edit("kRetries = 3", "kRetries = 5", kRetries="drifted", Fetch="fresh"),
    "enum": edit("kClosed = 4", "kClosed = 5", State="drifted"),
    "alias": edit("using Lines = std::vector<Line>", "using Lines = std::list<Line>", Lines="drifted"),
    "template": edit("template <typename T>", "template <typename T, int N>", Largest="changed"),
    "parameter": edit(
        "int retries = kRetries, Proxy",
        "int retries = kRetries, int timeout = 0, Proxy",
        Fetch="changed: signature: timeout added",
    ),
    "parameter_removed": edit(
        ", Proxy* proxy = nullptr)", ")", Fetch="changed: signature: proxy removed", Order="fresh"
    ),
    "default": edit("rate = 1.0", "rate = 2.0", Order__Total="changed: default of rate changed", Order="fresh"),
    "decorator": edit(
        "  [[nodiscard]] double", "  double", Order__Shipping="changed: decorator removed", Order="fresh"
    ),
    "const": edit("rate = 1.0) const", "rate = 1.0)", Order__Total="changed", Order="fresh"),
    "superclass": edit("public Base", "public Other", Order="changed", Order__Total="fresh"),
    "initializers": edit("lines_(std::move(lines))", "lines_(lines)", Order__Order="changed", Order="fresh"),
    "overload": edit(
        "  const Line& Find(int id)",
        "  const Line& Find(char letter) const { return lines_.back(); }\n  const Line& Find(int id)",
        **{"Order__Find#2": "fresh"},
        Order="fresh",
    ),
    "nested": edit(
        "value * 2 + 1",
        "value * 3 + 1",
        detail__Outer__Inner__Apply="drifted",
        detail__Outer="drifted",
        detail__Outer__Inner="fresh",
        Fetch="fresh",
    ),
    "syntax_error": edit(
        "lines_.size() < 3 ? 5 : 0;",
        "lines_.size() < ;",
        Order__Shipping="unverified: syntax error",
        Fetch="fresh",
        Order__Total="fresh",
    ),
    "conflict": edit(
        "    Sleep(1 << attempt);\n",
        "<<<<<<< HEAD\n    Sleep(1 << attempt);\n=======\n    Sleep(1);\n>>>>>>> other\n",
        Fetch="unverified: syntax error",
        Order__Total="fresh",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
