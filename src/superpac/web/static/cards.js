// An item as the person looks at it: a picture, words, a sound, or a table of its values.

import { make } from "./dom.js";
import { picture } from "./pictures.js";
import { player } from "./sounds.js";
import { session } from "./state.js";
import { words } from "./texts.js";

/** @typedef {import("./state.js").Card} Card */

const TINTED = 3; // rows at most, those in which two items differ most
const NOTABLE = 0.25; // difference relative to the values below which no row is tinted

/**
 * How far the values of each row are apart, relative to their size; values that are no numbers differ wholly or not.
 *
 * @param {Card} card
 * @param {Card | undefined} other
 * @returns {number[]}
 */
function gaps(card, other) {
  return card.rows.map(([, value], n) => {
    const theirs = other?.rows[n]?.[1];
    if (theirs === undefined || theirs === value) return 0;
    const [a, b] = [Number(value || "x"), Number(theirs || "x")]; // an empty cell is no zero
    const numbers = Number.isFinite(a) && Number.isFinite(b);
    return numbers ? Math.abs(a - b) / (Math.abs(a) + Math.abs(b) + 1e-12) : Infinity;
  });
}

/**
 * Values of an item. Words that differ from the other's are marked, and the numbers that differ most.
 *
 * @param {Card} card
 * @param {Card} [other]
 * @returns {HTMLElement}
 */
export function table(card, other) {
  const apart = gaps(card, other);
  const numbers = apart.filter((gap) => gap > NOTABLE && gap < Infinity).sort((a, b) => b - a);
  const limit = numbers[Math.min(TINTED, numbers.length) - 1] ?? Infinity;
  const rows = card.rows.map(([name, value], n) => {
    const far = apart[n] >= limit;
    const shown = far ? make("mark", { text: value }) : value;
    const cells = [make("th", { scope: "row", text: name }), make("td", {}, shown)];
    return make("tr", { cls: far ? "far" : null }, ...cells);
  });
  return make("div", { cls: "rows" }, make("table", {}, make("tbody", {}, ...rows)));
}

/**
 * What an item is, for the person to look at or listen to.
 *
 * @param {Card} card
 * @param {Card} [other] what it is compared with
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
  return make("figure", { cls: "card" }, frame, make("figcaption", { text: card.id, title: card.id }));
}
