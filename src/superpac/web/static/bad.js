// Setting an item aside that is blank or damaged: which one is asked, what was done is told, and it can be undone.

import { button, byId, make } from "./dom.js";
import { thumb } from "./pictures.js";
import { state } from "./state.js";

/** @typedef {import("./state.js").Card} Card */

/** @type {(card: Card) => void} */
let chosen = () => {};

/**
 * @returns {HTMLDialogElement}
 */
function dialog() {
  return byId("bad", HTMLDialogElement);
}

/** @param {Card} card */
function take(card) {
  dialog().close();
  chosen(card);
}

/**
 * @param {Card} card
 * @param {number} n place from 0
 * @param {number} count
 * @returns {HTMLElement}
 */
function choice(card, n, count) {
  const side = count === 2 ? ["First", "Second"][n] : String(n + 1);
  const key = make("kbd", { text: n + 1, "aria-hidden": "true" });
  const parts = [thumb(card.item), make("span", { text: `${side}: ${card.id}` }), key];
  return make("button", { type: "button", cls: "culprit", onclick: () => take(card) }, ...parts);
}

/**
 * Ask which item of the question is bad.
 *
 * @param {(card: Card) => void} then gets the one that was chosen
 */
export function askWhichIsBad(then) {
  const question = state.question;
  if (!question) return;
  chosen = then;
  const cards = [question.item, ...question.others];
  const box = dialog();
  box.replaceChildren(
    make("h2", { id: "bad-title", text: "Which one is blank or damaged?" }),
    make("p", { cls: "muted", text: "It is set aside and asked about no more; undo brings it back." }),
    make("div", { cls: "culprits" }, ...cards.map((card, n) => choice(card, n, cards.length))),
    make("p", {}, button("Neither", () => box.close(), { cls: "quiet" })),
  );
  box.onkeydown = (event) => {
    const place = { 1: 0, arrowleft: 0, 2: 1, arrowright: 1 }[event.key.toLowerCase()] ?? Number(event.key) - 1;
    if (!cards[place] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    take(cards[place]);
  };
  box.showModal();
}
