// While the person looks at a question, the pictures that the next one may show are loaded.

import { call } from "./api.js";
import { preload } from "./pictures.js";
import { pictured, state } from "./state.js";

/** @typedef {import("./state.js").Question} Question */

const ROUNDS = 6; // the server lets each request wait for some seconds

/** @type {AbortController | null} */
let looking = null; // a browser has six connections per server: one may wait, not more

/** Give the connection free, for an answer must not wait. */
export function stopLookingAhead() {
  looking?.abort();
}

/** @param {Question} question that is shown now */
export async function lookAhead(question) {
  stopLookingAhead();
  const own = (looking = new AbortController());
  try {
    for (let n = 0; n < ROUNDS && state.question === question; n += 1) {
      const path = `/api/ahead?annotator=${encodeURIComponent(state.annotator)}`;
      /** @type {{ ready: boolean, items: number[] }} */
      const found = await call(path, undefined, own.signal);
      if (pictured()) found.items.forEach(preload);
      if (found.ready) return;
    }
  } catch {
    // only a convenience: the pictures load when they are shown
  }
}
