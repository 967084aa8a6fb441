// Prints a cart as a receipt of fixed width.

import { total } from "./cart.js";

const WIDTH = 24;

export function receipt(cart) {
  const lines = cart.items.map((i) => row(`${i.quantity} x ${i.sku}`, i.price * i.quantity));
  lines.push("-".repeat(WIDTH), row("Total", total(cart)));
  return lines.join("\n");
}

function row(text, cents) {
  return text.padEnd(WIDTH - 10) + (cents / 100).toFixed(2).padStart(10);
}
