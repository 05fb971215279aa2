// What an item is shown beside: buttons that choose or mark, and the keys that stand for them.

import { answerButton, keycap } from "./buttons.js";
import { content, shortened } from "./cards.js";
import { byId, make } from "./dom.js";
import { picture } from "./pictures.js";
import { playButton } from "./sounds.js";
import { session } from "./state.js";

/** @typedef {import("./state.js").Card} Card */

const NAMES = "123456789acefghilnoqrtvw"; // digits, then letters that do nothing else

/**
 * Place that a key stands for, from 0; -1 for a key that stands for none.
 *
 * @param {string} key
 * @returns {number}
 */
export function placeOf(key) {
  return key.length === 1 ? NAMES.indexOf(key) : -1;
}

/**
 * One of several that may be chosen or marked.
 *
 * @param {Card} card
 * @param {Card} item that it is shown beside
 * @param {number} n place from 0
 * @param {string} like what a screen reader says before the item's name
 * @returns {HTMLElement}
 */
export function option(card, item, n, like) {
  const heard = session().kind === "sound"; // a player cannot stand within a button
  const frame = make("div", { cls: "frame" }, heard ? picture(card) : content(card, item));
  const name = shortened(card.text) || `${like} ${card.id}`;
  const props = { cls: "option", "data-choice": n, "aria-label": `${NAMES[n]}: ${name}` };
  const button = answerButton(props, keycap(NAMES[n].toUpperCase()), frame);
  return heard ? make("div", { cls: "heard" }, button, playButton(card, n + 1)) : button;
}

/** @returns {HTMLElement[]} */
function buttons() {
  return [...byId("stage").querySelectorAll("button[data-choice]")].filter((one) => one instanceof HTMLElement);
}

/**
 * Let Tab come to one of the options only; arrows lead to the others.
 *
 * @param {number} n place from 0
 */
export function rove(n) {
  buttons().forEach((one, k) => (one.tabIndex = k === n ? 0 : -1));
}

/**
 * Move the focus among the options.
 *
 * @param {"arrowleft" | "arrowright" | "arrowup" | "arrowdown"} key
 */
export function moveFocus(key) {
  const all = buttons();
  if (!all.length) return;
  const now = all.findIndex((one) => one === document.activeElement);
  const tops = all.map((one) => one.getBoundingClientRect().top);
  const across = Math.max(1, tops.filter((top) => Math.abs(top - tops[0]) < 2).length);
  const step = { arrowleft: -1, arrowright: 1, arrowup: -across, arrowdown: across }[key];
  const next = now < 0 ? 0 : Math.min(all.length - 1, Math.max(0, now + step));
  rove(next);
  all[next].focus();
}
