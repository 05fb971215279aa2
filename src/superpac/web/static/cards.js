// An item as the person looks at it: a picture, or a table of its values.

import { make } from "./dom.js";
import { picture } from "./pictures.js";

/** @typedef {import("./state.js").Card} Card */

const TINTED = 3; // rows at most, those in which two items differ most
const NOTABLE = 0.25; // difference relative to the values below which no row is tinted

/**
 * How far the values of each row are apart, relative to their size; 0 where they are not numbers.
 *
 * @param {Card} card
 * @param {Card | undefined} other
 * @returns {number[]}
 */
function gaps(card, other) {
  return card.rows.map(([, value], n) => {
    const [a, b] = [Number(value), Number(other?.rows[n]?.[1])];
    return Number.isFinite(a) && Number.isFinite(b) ? Math.abs(a - b) / (Math.abs(a) + Math.abs(b) + 1e-12) : 0;
  });
}

/**
 * Values of an item; the rows in which it differs most from the other are tinted.
 *
 * @param {Card} card
 * @param {Card} [other]
 * @returns {HTMLElement}
 */
export function table(card, other) {
  const apart = gaps(card, other);
  const limit = [...apart].sort((a, b) => b - a)[Math.min(TINTED, apart.length) - 1] || Infinity;
  const rows = card.rows.map(([name, value], n) => {
    const far = apart[n] >= limit && apart[n] > NOTABLE;
    const cells = [make("th", { scope: "row", text: name }), make("td", { text: value })];
    return make("tr", { cls: far ? "far" : null }, ...cells);
  });
  return make("div", { cls: "rows" }, make("table", {}, make("tbody", {}, ...rows)));
}

/**
 * Picture or table of an item.
 *
 * @param {Card} card
 * @param {Card} [other] what it is compared with
 * @returns {HTMLElement}
 */
export function content(card, other) {
  return card.rows.length ? table(card, other) : picture(card);
}

/**
 * An item in its frame, with its name below.
 *
 * @param {Card} card
 * @param {Card} [other] what it is compared with
 * @returns {HTMLElement}
 */
export function figure(card, other) {
  const frame = make("div", { cls: "frame" }, content(card, other));
  return make("figure", { cls: "card" }, frame, make("figcaption", { text: card.id, title: card.id }));
}
