// Buttons that answer a question.

import { make } from "./dom.js";

/**
 * The key that does what a button does; a screen reader is told of keys in the help.
 *
 * @param {string} name
 * @returns {HTMLElement}
 */
export function keycap(name) {
  return make("kbd", { text: name, "aria-hidden": "true" });
}

/**
 * A button that answers. Its data attributes say how; page.js hands the click to answer.js.
 *
 * @param {Record<string, unknown>} props
 * @param {...(Node | string)} children
 * @returns {HTMLButtonElement}
 */
export function answerButton(props, ...children) {
  return make("button", { type: "button", ...props }, ...children);
}
