"""Rust's mutation matrix."""

from __future__ import annotations

from tests.codeindex.matrix._shop import Piece, Shop, whole_pieces
from tests.codeindex.mutations import Matrix, Mutation

PATH = "src/orders.rs"
SOURCE = """\
use std::fmt;

pub const RETRIES: u32 = 3;

/// Fetches a page.
pub fn fetch(url: &str, retries: u32, proxy: Option<&str>) -> Result<String, Error> {
    for attempt in 0..retries {
        let answer = send(url, proxy)?;
        match answer.status {
            200 | 204 => return Ok(answer.body),
            404 => { break }
            _ => sleep(1 << attempt),
        }
    }
    Err(Error::Timeout(url.to_string()))
}

/// An order.
#[derive(Debug, Clone)]
pub struct Order {
    pub lines: Vec<Line>,
    currency: String,
}

impl Order {
    pub fn total(&self, rate: f64) -> f64 {
        // net of everything
        self.lines.iter().map(|line| line.price * line.count).sum::<f64>() * rate + self.shipping()
    }

    #[must_use]
    fn shipping(&self) -> f64 {
        if self.lines.len() < 3 { 5.0 } else { 0.0 }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lines", self.lines.len())
    }
}

impl fmt::LowerHex for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.lines.len())
    }
}

pub enum State {
    Open,
    Closed { reason: String },
}

pub trait Priced {
    fn price(&self) -> f64;
    fn doubled(&self) -> f64 {
        self.price() * 2.0
    }
}

macro_rules! line {
    ($price:expr) => {
        Line { price: $price, count: 1.0 }
    };
}

fn outer(values: &[Option<i64>]) -> Vec<i64> {
    fn inner(value: i64, count: usize) -> i64 {
        value * 2 + count as i64
    }
    values.iter().flatten().map(|value| inner(*value, values.len())).collect()
}
"""


def piece(name: str, start: str, end: str) -> Piece:
    """The part of the source between two texts."""
    return Piece(name, SOURCE[SOURCE.index(start) : SOURCE.index(end)])


SHOP = Shop(
    path=PATH,
    source=SOURCE,
    head="use std::fmt;\n\n",
    fetch=piece("fetch", "/// Fetches", "/// An order"),
    order=piece("Order", "/// An order", "impl fmt::Display"),
    total=piece("Order.total", "    pub fn total", "    #[must_use]"),
    shipping=piece("Order.shipping", "    #[must_use]", "}\n\nimpl fmt::Display"),
    outer="outer",
)

# as rustfmt prints it at 60 columns
REFORMATTED = """\
use std::fmt;

pub const RETRIES: u32 = 3;

/// Fetches a page.
pub fn fetch(
    url: &str,
    retries: u32,
    proxy: Option<&str>,
) -> Result<String, Error> {
    for attempt in 0..retries {
        let answer = send(url, proxy)?;
        match answer.status {
            200 | 204 => return Ok(answer.body),
            404 => break,
            _ => sleep(1 << attempt),
        }
    }
    Err(Error::Timeout(url.to_string()))
}

/// An order.
#[derive(Debug, Clone)]
pub struct Order {
    pub lines: Vec<Line>,
    currency: String,
}

impl Order {
    pub fn total(&self, rate: f64) -> f64 {
        // net of everything
        self.lines
            .iter()
            .map(|line| line.price * line.count)
            .sum::<f64>()
            * rate
            + self.shipping()
    }

    #[must_use]
    fn shipping(&self) -> f64 {
        if self.lines.len() < 3 {
            5.0
        } else {
            0.0
        }
    }
}

impl fmt::Display for Order {
    fn fmt(
        &self,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        write!(f, "{} lines", self.lines.len())
    }
}

impl fmt::LowerHex for Order {
    fn fmt(
        &self,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        write!(f, "{:x}", self.lines.len())
    }
}

pub enum State {
    Open,
    Closed { reason: String },
}

pub trait Priced {
    fn price(&self) -> f64;
    fn doubled(&self) -> f64 {
        self.price() * 2.0
    }
}

macro_rules! line {
    ($price:expr) => {
        Line {
            price: $price,
            count: 1.0,
        }
    };
}

fn outer(values: &[Option<i64>]) -> Vec<i64> {
    fn inner(value: i64, count: usize) -> i64 {
        value * 2 + count as i64
    }
    values
        .iter()
        .flatten()
        .map(|value| inner(*value, values.len()))
        .collect()
}
"""

_EMPTY = Matrix(PATH, SOURCE, {}, without=("default",))
edit = _EMPTY.edit

MUTATIONS = {
    **whole_pieces(SHOP),
    "rename": edit(
        "pub fn fetch(", "pub fn download(", fetch=f"moved: renamed to download -> {PATH}::download", Order="fresh"
    ),
    "rename_type": Mutation(
        {PATH: SOURCE.replace("struct Order", "struct Basket").replace("impl Order", "impl Basket")},
        {
            "Order": f"moved: renamed to Basket -> {PATH}::Basket",
            "Order.total": f"moved: moved to Basket.total -> {PATH}::Basket.total",
            "Order.shipping": f"moved -> {PATH}::Basket.shipping",
        },
    ),
    "reformat": Mutation(
        {PATH: REFORMATTED},
        {
            name: "fresh"
            for name in (
                "fetch",
                "Order",
                "Order.total",
                "Order.shipping",
                "Order.fmt#2",
                "State",
                "Priced",
                "Priced.doubled",
                "outer",
                "outer.inner",
            )
        },
    ),
    "comment": edit("        // net of everything\n", "        /* gross */\n\n", Order__total="fresh", Order="fresh"),
    "documentation": edit("/// Fetches a page.", "/// Gets it.\n///\n/// Twice.", fetch="fresh"),
    "comment_before_attribute": edit("#[derive(Debug, Clone)]\n", "#[derive(Debug, Clone)]\n// plain\n", Order="fresh"),
    "body": edit("1 << attempt", "attempt", fetch="drifted: body changed", outer="fresh", Order="fresh"),
    "unit": edit("sleep(1 << attempt),", "{ sleep(1 << attempt); }", fetch="drifted"),
    "field": edit("    currency: String", "    currency: Currency", Order="drifted", Order__total="fresh"),
    "variant": edit("Closed { reason: String }", "Closed { code: u8 }", State="drifted"),
    "constant": edit("RETRIES: u32 = 3", "RETRIES: u32 = 5", RETRIES="drifted", fetch="fresh"),
    "macro": edit("count: 1.0", "count: 2.0", line="drifted"),
    "parameter": edit(
        "retries: u32, proxy", "retries: u32, timeout: u32, proxy", fetch="changed: signature: timeout added"
    ),
    "parameter_removed": edit(", proxy: Option<&str>)", ")", fetch="changed: signature: proxy removed"),
    "result": edit("rate: f64) -> f64 {", "rate: f64) -> f32 {", Order__total="changed", Order="fresh"),
    "decorator": edit("#[derive(Debug, Clone)]", "#[derive(Debug)]", Order="changed: decorator", Order__total="fresh"),
    "attribute_removed": edit("    #[must_use]\n", "", Order__shipping="changed: decorator removed", Order="fresh"),
    "required_method": edit(
        "fn price(&self) -> f64;",
        "fn price(&self, rate: f64) -> f64;",
        Priced__price="changed: signature: rate added",
        Priced__doubled="fresh",
        Priced="fresh",
    ),
    "overload": edit('"{} lines"', '"{} rows"', **{"Order__fmt#2": "fresh"}, Order="fresh"),
    "nested": edit("value * 2 + count", "value * 3 + count", outer__inner="drifted", outer="drifted", fetch="fresh"),
    "syntax_error": edit(
        "if self.lines.len() < 3 {",
        "if self.lines.len() < {",
        Order__shipping="unverified: syntax error",
        fetch="fresh",
        outer="fresh",
    ),
    "conflict": edit(
        "        let answer = send(url, proxy)?;\n",
        "<<<<<<< HEAD\n        let answer = send(url, proxy)?;\n=======\n        let answer = 1;\n>>>>>>> other\n",
        fetch="unverified: syntax error",
        outer="fresh",
    ),
}

MATRIX = _EMPTY._replace(mutations=MUTATIONS)
