"""The outermost element of a picture: its size, its title and its description."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from holdfast.pages.svg.element import element


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """What a picture is called and what it shows, for those who see it and for those who do not."""

    ident: str
    """Distinguishes the picture from the others of its page: letters, digits, hyphens."""
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """The size of a picture, and the margins around the field in which values are drawn, in its own units."""

    width: float
    height: float
    left: float = 0
    right: float = 0
    top: float = 0
    bottom: float = 0

    @property
    def inner_width(self) -> float:
        """The width of the field."""
        return self.width - self.left - self.right


def figure(caption: Caption, canvas: Canvas, *children: Markup, kind: str, has_links: bool = False) -> Markup:
    """Return the picture. `kind` is its class beside `picture`.

    A picture with links is a group: what is inside an image cannot be reached by keyboard or screen reader.
    """
    title_id, description_id = f"{caption.ident}-title", f"{caption.ident}-description"
    return element(
        "svg",
        element("title", caption.title, id=title_id),
        element("desc", caption.description, id=description_id),
        *children,
        role="group" if has_links else "img",
        aria_labelledby=title_id,
        aria_describedby=description_id,
        class_=f"picture {kind}",
        viewBox=f"0 0 {canvas.width:g} {canvas.height:g}",
    )
