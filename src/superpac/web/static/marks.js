// What a person has marked of that which an item is shown beside, until it is sent.

import { byId } from "./dom.js";
import { say } from "./messages.js";

/** @type {Set<number>} */
let marked = new Set(); // places from 0
let several = false; // whether a choice marks, and is sent later

/**
 * Begin anew with another question.
 *
 * @param {boolean} many whether more than one is expected, so that a choice only marks
 */
export function clearMarks(many) {
  marked = new Set();
  several = many;
}

/**
 * Whether a choice only marks.
 *
 * @returns {boolean}
 */
export function marking() {
  return several;
}

/**
 * Places that are marked, in order.
 *
 * @returns {number[]}
 */
export function marks() {
  return [...marked].sort((a, b) => a - b);
}

/** Show what is marked, and on the button that sends it how many these are. */
function drawMarks() {
  for (const one of byId("stage").querySelectorAll("[data-choice]")) {
    one.setAttribute("aria-pressed", String(marked.has(Number(one.getAttribute("data-choice")))));
  }
  const done = byId("answers").querySelector("[data-act=confirm]");
  const words = done?.querySelector("[data-count]");
  if (!(done instanceof HTMLElement) || !words) return;
  words.textContent = marked.size ? `${done.dataset.some} ${marked.size}` : (done.dataset.none ?? "");
}

/** Let choices mark from now on, so that several can be sent together. */
export function markSeveral() {
  several = true;
  const done = byId("answers").querySelector("[data-act=confirm]");
  if (done instanceof HTMLElement) done.hidden = false;
  byId("answers").querySelector("[data-act=several]")?.setAttribute("aria-pressed", "true");
  drawMarks();
}

/**
 * Mark one, or take its mark away.
 *
 * @param {number} n place from 0
 */
export function toggleMark(n) {
  if (!marked.delete(n)) marked.add(n);
  drawMarks();
  say(`${n + 1} ${marked.has(n) ? "marked" : "not marked"}, ${marked.size} in all`);
}
