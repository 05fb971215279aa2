// An item as the person looks at it: a picture, words, a sound, or a table of its values.

import { table } from "./compare.js";
import { context } from "./context.js";
import { make } from "./dom.js";
import { photoBehind, picture } from "./pictures.js";
import { player } from "./sounds.js";
import { session } from "./state.js";
import { words } from "./texts.js";

/** @typedef {import("./state.js").Card} Card */
/** @typedef {import("./state.js").Shown} Shown */

const SPOKEN = 200; // letters of a text that are read aloud

/**
 * What an item is, for the person to look at or listen to.
 *
 * @param {Shown} card
 * @param {Shown} [other] what it is compared with
 * @param {string} [key] that plays it, where it is a sound
 * @returns {HTMLElement}
 */
export function content(card, other, key) {
  if (card.text) return words(card, other);
  if (card.rows.length) return table(card, other);
  return session().kind === "sound" ? player(card, key) : picture(card);
}

/**
 * An item in its frame, with its name below. Words and tables may be longer than the frame: the keyboard scrolls them.
 *
 * @param {Card} card
 * @param {Card} [other] what it is compared with
 * @param {string} [key] that plays it, where it is a sound
 * @returns {HTMLElement}
 */
export function figure(card, other, key = "J") {
  const shown = content(card, other, key);
  if (card.text || card.rows.length) {
    shown.tabIndex = 0;
    shown.setAttribute("role", "group");
    shown.setAttribute("aria-label", `Item ${card.id}`);
  }
  const frame = make("div", { cls: "frame" }, shown);
  const name = make("figcaption", { text: card.id, title: card.id });
  return make("figure", { cls: "card" }, frame, photoBehind(card), context(card), name);
}

/**
 * What stands under a comparison of two rows: the item's group and name.
 *
 * @param {Card} card
 * @returns {HTMLElement}
 */
export function foot(card) {
  return make("figure", { cls: "card foot" }, context(card), make("figcaption", { text: card.id, title: card.id }));
}

/**
 * Begin of a text, to be read aloud.
 *
 * @param {string} text
 * @returns {string}
 */
export function shortened(text) {
  return text.length > SPOKEN ? `${text.slice(0, SPOKEN)}…` : text;
}
