// Two rows of a table in one comparison: a line per column, with bars on the column's own scale.

import { call } from "./api.js";
import { make } from "./dom.js";
import { session } from "./state.js";

/** @typedef {import("./state.js").Shown} Shown */
/** @typedef {[number, number] | null} Scale smallest and largest value of a column, where it has numbers */

const MARKED = 3; // lines with numbers at most, those in which two items differ most
const NOTABLE = 0.25; // difference, as a share of the scale, below which no line is marked

const LONG = 9; // letters of a fraction that are shown as they are
const DIGITS = 6; // that are shown of a longer one

/** @type {Scale[]} */
let scales = [];

/** Fetch the scales of a table's columns, once. */
export async function loadScales() {
  if (session().kind !== "table" || scales.length) return;
  try {
    scales = await call("/api/scales");
  } catch {
    scales = []; // without them there are no bars, and the next question tries again
  }
}

/**
 * @param {string} value
 * @returns {number | null} null where it is no number; an empty cell is no zero
 */
function number(value) {
  const found = Number(value.trim() || "x");
  return Number.isFinite(found) ? found : null;
}

/**
 * How far two values are apart, as a share of the scale; words are wholly so or not at all.
 *
 * @param {string} one
 * @param {string | undefined} other
 * @param {Scale | undefined} scale
 * @returns {number}
 */
function gap(one, other, scale) {
  if (other === undefined || one === other) return 0;
  const [a, b] = [number(one), number(other)];
  if (a === null || b === null) return Infinity;
  const span = scale ? scale[1] - scale[0] : Math.abs(a) + Math.abs(b);
  return Math.abs(a - b) / (span || 1);
}

/**
 * Which lines are marked: words that differ, and the numbers that differ most.
 *
 * @param {Shown} card
 * @param {Shown | undefined} other
 * @returns {boolean[]}
 */
function differing(card, other) {
  const apart = card.rows.map(([, value], n) => gap(value, other?.rows[n]?.[1], scales[n]));
  const numbers = apart.filter((one) => one > NOTABLE && one < Infinity).sort((a, b) => b - a);
  const limit = numbers[Math.min(MARKED, numbers.length) - 1] ?? Infinity;
  return apart.map((one) => one >= limit);
}

/**
 * A value as it is read at a glance: of a long fraction the first digits.
 *
 * @param {string} value
 * @returns {string}
 */
function short(value) {
  const own = number(value);
  const long = own !== null && value.length > LONG && value.includes(".");
  return long ? String(Number(own.toPrecision(DIGITS))) : value;
}

/**
 * Cell with a value; a number is never broken over lines.
 *
 * @param {string} value
 * @param {boolean} far whether it is marked
 * @param {Scale | undefined} [scale] for a bar
 * @returns {HTMLElement}
 */
function cell(value, far, scale) {
  const own = number(value);
  const text = make(far ? "mark" : "span", { text: short(value), title: short(value) === value ? null : value });
  const span = scale ? scale[1] - scale[0] : 0;
  const share = scale && own !== null && span > 0 ? (100 * (own - scale[0])) / span : null;
  const filled = make("i", { "width%": share });
  const bar = share === null ? null : make("span", { cls: "bar", "aria-hidden": "true" }, filled);
  return make("td", { cls: own === null ? null : "number" }, text, bar);
}

/**
 * Values of one item, marked where they differ from another's.
 *
 * @param {Shown} card
 * @param {Shown} [other]
 * @returns {HTMLElement}
 */
export function table(card, other) {
  const far = differing(card, other);
  const rows = card.rows.map(([name, value], n) =>
    make("tr", { cls: far[n] ? "far" : null }, make("th", { scope: "row", text: name }), cell(value, far[n])),
  );
  return make("div", { cls: "rows" }, make("table", {}, make("tbody", {}, ...rows)));
}

/**
 * Values of two items side by side.
 *
 * @param {Shown} item
 * @param {Shown} other
 * @returns {HTMLElement}
 */
export function comparison(item, other) {
  const far = differing(item, other);
  const head = [item.id, other.id].map((id) => make("th", { scope: "col", text: id, title: id }));
  const rows = item.rows.map(([name, value], n) => {
    const theirs = other.rows[n]?.[1] ?? "";
    const cells = [value, theirs].map((one) => cell(one, far[n], scales[n]));
    return make("tr", { cls: far[n] ? "far" : null }, make("th", { scope: "row", text: name }), ...cells);
  });
  const whole = make(
    "table",
    {},
    make("thead", {}, make("tr", {}, make("td", {}), ...head)),
    make("tbody", {}, ...rows),
  );
  const label = `Values of ${item.id} and ${other.id}`;
  return make("div", { cls: "rows compare", tabindex: "0", role: "group", "aria-label": label }, whole);
}
