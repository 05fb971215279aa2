// Review: what to look at again, one after the other. New items group by group, then answers in doubt.

import { act, call, newKey } from "./api.js";
import { arrange } from "./arrange.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { openItem } from "./item.js";
import { banner, say } from "./messages.js";
import { thumb } from "./pictures.js";
import { showProgress } from "./progress.js";
import { crispness, forgetQuestion, state } from "./state.js";
import { suspectsIn } from "./suspects.js";

/** @typedef {import("./wall.js").Entry} Entry */

/**
 * New items that look like a group; `to` is a member that was there before, if there is one.
 *
 * @typedef {object} Newcomers
 * @property {number} cluster
 * @property {string} title
 * @property {number} size
 * @property {number | null} to
 * @property {Entry[]} known
 * @property {Entry[]} items
 */

/** @typedef {import("./suspects.js").Suspects & { new: Newcomers[] }} Review */
/** @typedef {{ title: string, node: HTMLElement }} Task */

let at = 0; // place in the queue

/** Go on with the next one. */
function next() {
  at += 1;
  showReview();
}

/**
 * @param {Entry} entry
 * @param {Set<number>} chosen
 * @param {() => void} changed
 * @returns {HTMLElement}
 */
function choice(entry, chosen, changed) {
  const tile = make(
    "button",
    { type: "button", cls: "newcomer", "aria-label": entry.id, "aria-pressed": "true", title: entry.id },
    thumb(entry.item),
  );
  tile.addEventListener("click", () => {
    if (!chosen.delete(entry.item)) chosen.add(entry.item);
    tile.setAttribute("aria-pressed", String(chosen.has(entry.item)));
    changed();
  });
  tile.addEventListener("dblclick", () => openItem(entry.item));
  return tile;
}

/**
 * "12 new pictures look like Anna: all right?" One click takes those that are not out of it.
 *
 * @param {Newcomers} group
 * @returns {Task}
 */
function newcomers(group) {
  const chosen = new Set(group.items.map((entry) => entry.item));
  const many = group.size === 1 ? "1 new item looks" : `${group.size.toLocaleString()} new items look`;
  const words = group.to === null ? `${group.size} new items form a group of their own` : `${many} like ${group.title}`;
  const agree = async () => {
    const items = [...chosen];
    const done = group.to === null ? await arrange("join", items) : await arrange("move", items, { to: group.to });
    if (done) say(`${words}: agreed.`);
  };
  const yes = button("", agree, { cls: "primary" });
  const count = () => {
    yes.textContent = `Yes, ${chosen.size === 1 ? "this one" : `these ${chosen.size.toLocaleString()}`}`;
    yes.disabled = chosen.size < (group.to === null ? 2 : 1);
  };
  count();
  const known = make("div", { cls: "faces", "aria-hidden": "true" }, ...group.known.map((entry) => thumb(entry.item)));
  const rest = group.size - group.items.length;
  const node = make(
    "div",
    { cls: "note" },
    group.known.length ? known : null,
    make("p", { cls: "muted", text: "Click those that do not belong, then agree to the others." }),
    make("div", { cls: `newcomers ${crispness()}`.trim() }, ...group.items.map((one) => choice(one, chosen, count))),
    rest > 0 ? make("p", { cls: "muted", text: `${rest.toLocaleString()} more come after these.` }) : null,
    make("div", { cls: "row" }, yes, button("Later", next, { cls: "quiet" })),
  );
  return { title: `${words}: all right?`, node };
}

/**
 * An answer in doubt: keep it, take it back, or have it asked again.
 *
 * @param {{ node: HTMLElement, links: import("./suspects.js").Link[] }} found
 * @returns {Task}
 */
function doubt({ node, links }) {
  const keep = async () => {
    try {
      const seqs = links.map((link) => link.seq);
      const done = await act("/api/keep", { annotator: state.annotator, key: newKey(), seqs });
      forgetQuestion();
      showProgress();
      banner(done.message, { calm: true });
      say(done.message);
      next();
    } catch (error) {
      complain(error);
    }
  };
  const row = make(
    "div",
    { cls: "row" },
    links.length ? button("Keep: it is right", keep) : null,
    button("Next", next, { cls: "quiet" }),
  );
  return { title: "Is this right?", node: make("div", { cls: "note" }, make("ul", { cls: "plain" }, node), row) };
}

/** Fetch the queue and show the one that is next. */
export async function showReview() {
  try {
    /** @type {Review} */
    const found = await call("/api/review");
    if (state.view !== "review") return;
    const queue = [...found.new.map(newcomers), ...suspectsIn(found).map(doubt)];
    if (at >= queue.length) at = 0;
    byId("wrongs").hidden = !queue.length;
    byId("wrongs").textContent = String(queue.length);
    const words = byId("review-words");
    if (!queue.length) {
      words.textContent = "Nothing to look at: no answers are in doubt, and no new items wait.";
      byId("review-card").replaceChildren();
      return;
    }
    const { title, node } = queue[at];
    words.textContent = `${at + 1} of ${queue.length.toLocaleString()} to look at`;
    byId("review-card").replaceChildren(make("h2", { text: title }), node);
  } catch (error) {
    complain(error);
  }
}
