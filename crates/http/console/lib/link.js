// Portal links: `#link=<token>` in the address is exchanged once for a key with a short life.

import { request } from "./api.js";

/**
 * Returns the key that a link stands for.
 * @param {string} token
 * @returns {Promise<string>}
 */
export async function exchange(token) {
  const { data } = await request("POST", "/portal-links/exchange", { body: { token }, key: "", quiet: true });
  return data.key;
}
