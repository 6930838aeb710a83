import { Item, parse } from "./items.js";

/** Returns the sum of the prices. */
export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.price, 0);
}

export default {
  fetch(): Response {
    return new Response(String(total(parse('[{"name":"tea","price":3}]'))));
  },
};
