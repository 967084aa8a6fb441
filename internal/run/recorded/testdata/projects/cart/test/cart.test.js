import assert from "node:assert/strict";
import { test } from "node:test";

import { add, createCart, total } from "../src/cart.js";
import { receipt } from "../src/receipt.js";

test("adding the same article twice adds up its quantity", () => {
  const cart = add(add(createCart(), "mug", 950), "mug", 950, 2);
  assert.equal(cart.items.length, 1);
  assert.equal(total(cart), 2850);
});

test("a receipt is 24 characters wide", () => {
  const text = receipt(add(createCart(), "mug", 950));
  for (const line of text.split("\n")) assert.equal(line.length, 24);
});
