// A shopping cart. Prices are in cents.

export function createCart() {
  return { items: [], code: null };
}

export function add(cart, sku, price, quantity = 1) {
  const item = cart.items.find((i) => i.sku === sku);
  if (item) {
    item.quantity += quantity;
  } else {
    cart.items.push({ sku, price, quantity });
  }
  return cart;
}

export function remove(cart, sku) {
  const at = cart.items.findIndex((i) => i.sku === sku);
  cart.items.splice(at, 1);
  return cart;
}

export function total(cart) {
  return cart.items.reduce((sum, i) => sum + i.price * i.quantity, 0);
}
