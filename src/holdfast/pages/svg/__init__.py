"""Pictures as SVG text: pure functions from numbers and names to markup that is escaped by construction.

Layouts (`squarify`, `arrange`, `spread_out`) return plain rectangles and positions; the functions that draw them
return `Markup`. No function knows a colour: each element has a class, and the style sheet has a colour for it in the
light and in the dark theme. There is no inline style and no script.
"""
