"""Amounts of money in whole cents."""


def parse_amount(text):
    """Cents of an amount such as `12.34`, `12` or `-0.50`."""
    sign = -1 if text.startswith("-") else 1
    whole, _, fraction = text.lstrip("-").partition(".")
    return sign * (int(whole or 0) * 100 + int((fraction + "00")[:2]))


def render_amount(cents):
    """The amount as text with two decimals."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def split_amount(cents, people):
    """The share of each person, in cents."""
    share = round(cents / people)
    return [share] * people
