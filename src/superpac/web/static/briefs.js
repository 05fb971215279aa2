// Items in a few words, for lists, where a small picture would say nothing; those asked for together come together.

import { call } from "./api.js";
import { make } from "./dom.js";

const AT_ONCE = 200;

/** @type {Map<number, string>} */
const known = new Map();
/** @type {Map<number, HTMLElement[]>} */
let wanted = new Map();

/** Fetch the words that are wanted, and put them in. */
async function fetchWanted() {
  const waiting = wanted;
  wanted = new Map();
  const items = [...waiting.keys()];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const some = items.slice(start, start + AT_ONCE);
    try {
      /** @type {string[]} */
      const found = await call(`/api/briefs?${some.map((item) => `item=${item}`).join("&")}`);
      some.forEach((item, n) => known.set(item, found[n]));
    } catch {
      some.forEach((item) => known.set(item, `Item ${item}`)); // what was clicked still opens
    }
    for (const item of some) for (const node of waiting.get(item) ?? []) node.textContent = known.get(item) ?? "";
  }
}

/**
 * @param {number} item
 * @returns {HTMLElement}
 */
export function brief(item) {
  const node = make("span", { cls: "brief", dir: "auto", text: known.get(item) ?? "" });
  if (!known.has(item)) {
    if (!wanted.size) queueMicrotask(fetchWanted);
    wanted.set(item, [...(wanted.get(item) ?? []), node]);
  }
  return node;
}
