"""Amounts of money."""


def vat(net, rate):
    """VAT on a net amount, in the same currency unit, rounded to cents."""
    return round(net * rate, 2)


def fmt(amount):
    """An amount as people write it: 1,234.50."""
    return f"{amount:,.2f}"
