// One item: where it belongs, its nearest groups, the answers about it.

import { act, call, newKey } from "./api.js";
import { content } from "./cards.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { photoBehind, thumb } from "./pictures.js";
import { askAbout } from "./question.js";
import { hush } from "./sounds.js";
import { crispness, forgetQuestion, state } from "./state.js";
import { takeBack } from "./takeback.js";
import { refresh } from "./views.js";
import { openBehind } from "./zoom.js";

/**
 * A group that the item may belong to, with one of its members.
 *
 * @typedef {object} Rival
 * @property {number} cluster
 * @property {string} name
 * @property {number} exemplar
 * @property {number} distance
 * @property {"same" | "different" | null} known
 * @property {boolean} askable
 * @property {boolean} own
 */

/**
 * Reply of GET /api/items/{item}.
 *
 * @typedef {object} ItemView
 * @property {number} item
 * @property {string} id
 * @property {[string, string][]} rows
 * @property {string} text
 * @property {boolean} behind
 * @property {number} cluster
 * @property {string} name
 * @property {boolean} certain
 * @property {boolean} set_aside
 * @property {number} sure
 * @property {Rival[]} rivals
 * @property {import("./history.js").HistoryEvent[]} answers
 */

/**
 * @returns {HTMLDialogElement}
 */
function dialog() {
  return byId("item", HTMLDialogElement);
}

/**
 * @param {ItemView} view
 * @param {Rival} rival
 * @param {number} farthest distance among the rivals
 * @returns {HTMLElement}
 */
function rivalLine(view, rival, farthest) {
  const near = Math.round(100 * (1 - rival.distance / farthest) + 4); // the farthest still shows a little
  const known = rival.known === "same" ? "answers say same" : "answers say different";
  const askThis = () => {
    dialog().close();
    askAbout(view.item, rival.exemplar);
  };
  return make(
    "div",
    { cls: "rival" },
    thumb(rival.exemplar),
    make(
      "span",
      {},
      make("b", { text: rival.name || `Cluster ${rival.cluster + 1}` }),
      rival.own ? " (its cluster)" : "",
      make("div", { cls: "bar", title: "how near" }, make("i", { "width%": near })),
      rival.known ? make("small", { cls: "muted", text: known }) : null,
    ),
    rival.askable && !view.set_aside ? button("Ask this", askThis) : null,
  );
}

/**
 * @param {import("./history.js").HistoryEvent} event
 * @returns {HTMLElement}
 */
function answerLine(event) {
  const said = make("b", { cls: `said ${event.answer}`, text: event.answer });
  const back = () => {
    dialog().close();
    takeBack(event.seq);
  };
  const words = ` ${event.ids.join(" – ")} (#${event.seq})`;
  return make("div", { cls: "rival" }, make("span", {}, said, words), button("Take back", back));
}

/**
 * @param {ItemView} view
 * @returns {HTMLElement}
 */
function detail(view) {
  const farthest = Math.max(...view.rivals.map((rival) => rival.distance), 1e-9);
  const words = view.certain
    ? "Answers have settled where it belongs."
    : `Not settled by answers; the clusters are ${Math.round(100 * view.sure)} % sure.`;
  const facts = make(
    "div",
    {},
    make("p", { cls: "muted", text: words }),
    make("h2", { text: "Nearest groups" }),
    ...view.rivals.map((rival) => rivalLine(view, rival, farthest)),
    view.answers.length ? make("h2", { text: "Answers about it" }) : null,
    ...view.answers.map(answerLine),
  );
  const behind = photoBehind(view);
  behind?.addEventListener("click", () => openBehind(view));
  return make("div", { cls: "detail" }, make("div", { cls: "big" }, content(view), behind), facts);
}

/**
 * @param {ItemView} view
 * @returns {HTMLElement}
 */
function buttons(view) {
  const askNow = () => {
    dialog().close();
    askAbout(view.item);
  };
  const open = view.rivals.some((rival) => rival.askable) && !view.set_aside;
  return make(
    "div",
    { cls: "row" },
    open ? button("Ask about it now", askNow) : null,
    button(view.set_aside ? "Put it back" : "Bad item", () => setAside(view.item, view.set_aside)),
    button("Close", () => dialog().close(), { cls: "quiet" }),
  );
}

/**
 * Set an item aside as blank or damaged, or put it back.
 *
 * @param {number} item
 * @param {boolean} back
 */
async function setAside(item, back) {
  dialog().close();
  try {
    await act("/api/aside", { annotator: state.annotator, key: newKey(), item, back });
    forgetQuestion();
    refresh();
  } catch (error) {
    complain(error);
  }
}

/**
 * Show an item over the page.
 *
 * @param {number} item
 */
export async function openItem(item) {
  try {
    /** @type {ItemView} */
    const view = await call(`/api/items/${item}`);
    const box = dialog();
    const place = view.name || `cluster ${view.cluster + 1}`;
    const title = make("h2", { id: "item-title", text: `${view.id} in ${place}` });
    box.className = crispness();
    box.replaceChildren(title, detail(view), buttons(view));
    box.onclose = () => hush(box);
    if (!box.open) box.showModal();
  } catch (error) {
    complain(error);
  }
}
