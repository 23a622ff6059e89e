"""Who owes what, as lines of text."""

from ledger.money import render_amount, split_amount


def owed(bills, people):
    """Cents that each person owes, by name, for bills of (title, cents)."""
    totals = dict.fromkeys(people, 0)
    for _title, cents in bills:
        for name, share in zip(people, split_amount(cents, len(people)), strict=True):
            totals[name] += share
    return totals


def render_report(bills, people):
    """One line a person, in the order given, and the total."""
    totals = owed(bills, people)
    lines = [f"{name}: {render_amount(cents)}" for name, cents in totals.items()]
    return "\n".join([*lines, f"total: {render_amount(sum(totals.values()))}"])
