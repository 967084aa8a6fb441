"""Totals of an invoice."""

from invoice.money import vat


class Line:
    def __init__(self, text, quantity, price, rate=0.19):
        self.text = text
        self.quantity = quantity
        self.price = price
        self.rate = rate

    def net(self):
        return self.quantity * self.price


def total(lines):
    """Returns (net, tax, gross) of the lines."""
    net = sum(line.net() for line in lines)
    tax = sum(vat(line.net(), line.rate) for line in lines)
    return net, tax, net + tax
