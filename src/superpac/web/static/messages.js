// What the page tells the person: a banner above the question, and words for screen readers only.

import { byId, make } from "./dom.js";

/**
 * @param {string} words
 * @param {{ calm?: boolean, buttons?: HTMLButtonElement[] }} [options] calm: nothing went wrong
 */
export function banner(words, { calm = false, buttons = [] } = {}) {
  const box = byId("banner");
  box.className = calm ? "calm" : "";
  const close = make("button", { cls: "quiet", text: "✕", "aria-label": "Close", onclick: hideBanner });
  box.replaceChildren(make("span", { text: words }), ...buttons, close);
  box.hidden = false;
}

/** Take the banner away. */
export function hideBanner() {
  byId("banner").hidden = true;
}

/**
 * Words for screen readers.
 *
 * @param {string} words
 */
export function say(words) {
  const live = byId("live");
  live.textContent = live.textContent === words ? `${words}\u00a0` : words; // the same words again are spoken again
}
