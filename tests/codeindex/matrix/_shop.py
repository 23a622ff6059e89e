"""Mutations of whole pieces, the same in every language: a shop's source is a fetching function, an order and more."""

from __future__ import annotations

import os
from typing import NamedTuple

from tests.codeindex.mutations import Mutation


class Piece(NamedTuple):
    """A definition's name and its text in the source."""

    name: str
    text: str


class Shop(NamedTuple):
    """A source and its pieces. `head` begins every new file; `total` and `shipping` are parts of `order`."""

    path: str
    source: str
    head: str
    fetch: Piece
    order: Piece
    total: Piece
    shipping: Piece
    outer: str

    def beside(self, name: str) -> str:
        """The path of another file in the same folder."""
        return os.path.join(os.path.dirname(self.path), name + os.path.splitext(self.path)[1])

    def without(self, *pieces: Piece) -> str:
        """The source with those pieces cut out."""
        source = self.source
        for piece in pieces:
            assert source.count(piece.text) == 1, piece.text
            source = source.replace(piece.text, "")
        return source


def whole_pieces(shop: Shop) -> dict[str, Mutation]:
    """What happens to whole definitions and files."""
    path, fetch, order, total, shipping = shop.path, shop.fetch, shop.order, shop.total, shop.shipping
    web, carts, single, rest = (shop.beside(name) for name in ("web", "carts", "one", "rest"))
    return {
        "move": Mutation(
            {path: shop.without(fetch), web: shop.head + fetch.text},
            {fetch.name: f"moved: moved to {web} -> {web}::{fetch.name}", shop.outer: "fresh"},
        ),
        "move_file": Mutation(
            {path: None, carts: shop.source},
            {piece.name: f"moved -> {carts}::{piece.name}" for piece in (fetch, order, total, shipping)},
        ),
        "delete": Mutation(
            {path: shop.without(fetch, shipping)},
            {
                fetch.name: f"orphaned: {fetch.name} deleted in",
                shipping.name: "orphaned",
                total.name: "fresh",
                order.name: "fresh",
                shop.outer: "fresh",
            },
        ),
        "delete_file": Mutation({path: None}, {fetch.name: "orphaned", total.name: "orphaned"}),
        "split": Mutation(
            {path: None, single: shop.head + order.text, rest: shop.without(order)},
            {
                order.name: f"moved -> {single}::{order.name}",
                total.name: f"moved -> {single}::{total.name}",
                fetch.name: f"moved -> {rest}::{fetch.name}",
                shop.outer: f"moved -> {rest}::{shop.outer}",
            },
        ),
        "swap": Mutation(
            {path: _swapped(shop.source, total.text, shipping.text)},
            {total.name: "fresh", shipping.name: "fresh", order.name: "fresh"},
        ),
        "copied": Mutation(
            {path: shop.without(fetch), single: shop.head + fetch.text, rest: shop.head + fetch.text},
            {fetch.name: "orphaned"},
        ),
        "line_endings": Mutation(
            {path: shop.source.replace("\n", "\r\n")},
            {piece.name: "fresh" for piece in (fetch, order, total, shipping)},
        ),
    }


def _swapped(source: str, first: str, second: str) -> str:
    assert source.count(first) == source.count(second) == 1
    return source.replace(first, "\0").replace(second, first).replace("\0", second)
