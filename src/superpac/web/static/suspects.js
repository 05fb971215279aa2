// Answers to check: those that contradict each other, and those that the clusters speak against.

import { call } from "./api.js";
import { button, byId, make } from "./dom.js";
import { thumb } from "./pictures.js";
import { askAbout } from "./question.js";
import { crispness } from "./state.js";
import { takeBackAll } from "./takeback.js";

/**
 * An answer as a link between two items.
 *
 * @typedef {object} Link
 * @property {number} seq
 * @property {number} i
 * @property {number} j
 * @property {[string, string]} ids
 * @property {"same" | "different"} answer
 * @property {string} annotator
 */

/**
 * A chain of "same" that an answer contradicts; `cut` is what is cheapest to take back.
 *
 * @typedef {object} Contradiction
 * @property {Link} answer
 * @property {Link[]} chain
 * @property {Link[]} cut
 * @property {number[]} resolves
 * @property {string} words
 */

/**
 * A pair that was answered both ways, as often as it is asked.
 *
 * @typedef {object} Dispute
 * @property {number} i
 * @property {number} j
 * @property {[string, string]} ids
 * @property {number} same
 * @property {number} different
 * @property {string} words
 */

/** @typedef {{ answer: Link, chance: number, words: string }} Doubt */
/** @typedef {{ name: string, wrong: number }} Person */

/**
 * Reply of GET /api/suspects.
 *
 * @typedef {object} Suspects
 * @property {Dispute[]} disputes
 * @property {Contradiction[]} contradictions
 * @property {Doubt[]} doubts
 * @property {Person[]} people
 */

const FIRST = 5; // shown before one asks for more

/**
 * @param {number} share
 * @returns {string}
 */
function percent(share) {
  return share < 0.0095 ? `${(100 * share).toFixed(1)}%` : `${Math.round(100 * share)}%`;
}

/**
 * @param {Link[]} links
 * @returns {string}
 */
function numbers(links) {
  return links.map((link) => `#${link.seq}`).join(", ");
}

/**
 * An answer within a chain.
 *
 * @param {Link} link
 * @param {Set<number>} culprits
 * @returns {HTMLElement}
 */
function step(link, culprits) {
  const sign = make("b", { text: link.answer === "same" ? "=" : "≠" });
  const by = make("small", { text: `#${link.seq}${link.annotator ? ` ${link.annotator}` : ""}` });
  return make("span", { cls: `step ${link.answer}${culprits.has(link.seq) ? " culprit" : ""}` }, sign, by);
}

/**
 * An item within a chain.
 *
 * @param {number} item
 * @param {string} id
 * @returns {HTMLElement}
 */
function piece(item, id) {
  return make("span", { cls: `piece ${crispness()}`.trim() }, thumb(item), make("small", { text: id, title: id }));
}

/**
 * What may be done about answers that are likely wrong.
 *
 * @param {Link[]} links
 * @param {string} words
 * @returns {HTMLElement}
 */
function remedy(links, words) {
  const first = links[0];
  const label = `Ask me again about ${first.ids.join(" and ")}`;
  return make(
    "div",
    { cls: "remedy" },
    make("span", { text: words }),
    button(`Take back ${numbers(links)}`, () => takeBackAll(links.map((link) => link.seq)), { cls: "warm" }),
    button("Ask me again", () => askAbout(first.i, first.j), { "aria-label": label }),
  );
}

/**
 * One entry of the list: a sentence for screen readers, pictures for the others, and what may be done.
 *
 * @param {string} words
 * @param {Node[]} chain
 * @param {...Node} rest
 * @returns {HTMLElement}
 */
function entry(words, chain, ...rest) {
  const sentence = make("p", { cls: "hidden", text: `${words}.` });
  const row = make("div", { cls: "chain", "aria-hidden": "true" }, ...chain);
  return make("li", { cls: "suspect" }, sentence, row, ...rest);
}

/**
 * @param {Contradiction} found
 * @returns {HTMLElement}
 */
function contradiction(found) {
  const { chain, cut, answer } = found;
  const culprits = new Set(cut.map((link) => link.seq));
  const start = piece(chain[0].i, chain[0].ids[0]);
  const steps = chain.flatMap((link) => [step(link, culprits), piece(link.j, link.ids[1])]);
  const ends = [chain[0].ids[0], chain[chain.length - 1].ids[1]];
  const but = make(
    "p",
    { cls: "but", "aria-hidden": "true" },
    `So ${ends[0]} and ${ends[1]} would be the same, but ${answer.annotator || "somebody"} said `,
    make(
      "span",
      { cls: culprits.has(answer.seq) ? "culprit" : null },
      make("span", { cls: "said different", text: "different" }),
      ` (#${answer.seq})`,
    ),
    ".",
  );
  const names = [...new Set(cut.map((link) => link.annotator || "no name"))].join(" and ");
  const also = found.resolves.length ? ` It settles ${found.resolves.length} more like this.` : "";
  const lead = `Likeliest wrong: what ${names} said in ${numbers(cut)}.${also}`;
  return entry(found.words, [start, ...steps], but, remedy(cut, lead));
}

/**
 * @param {Dispute} found
 * @returns {HTMLElement}
 */
function dispute(found) {
  const { i, j, ids, same, different } = found;
  const between = make("span", { cls: "said", text: `same ${same}× · different ${different}×` });
  const label = `Ask me again about ${ids.join(" and ")}`;
  const again = make(
    "div",
    { cls: "remedy" },
    make("span", { text: "Answered both ways, so it is not asked any more. Take answers back below, or:" }),
    button("Ask me again", () => askAbout(i, j), { "aria-label": label }),
  );
  return entry(found.words, [piece(i, ids[0]), between, piece(j, ids[1])], again);
}

/**
 * @param {Doubt} found
 * @returns {HTMLElement}
 */
function doubt(found) {
  const link = found.answer;
  const chain = [piece(link.i, link.ids[0]), step(link, new Set([link.seq])), piece(link.j, link.ids[1])];
  const who = link.annotator || "Somebody";
  const likely = `${percent(found.chance)} likely wrong`;
  const lead = `${who} said ${link.answer}; the clusters speak against it (${likely}).`;
  return entry(found.words, chain, remedy([link], lead));
}

/**
 * What is to be checked, each as it is shown, with the answers that are likely wrong.
 *
 * @param {Suspects} found
 * @returns {{ node: HTMLElement, links: Link[] }[]}
 */
export function suspectsIn(found) {
  return [
    ...found.disputes.map((one) => ({ node: dispute(one), links: [] })),
    ...found.contradictions.map((one) => ({ node: contradiction(one), links: one.cut })),
    ...found.doubts.map((one) => ({ node: doubt(one), links: [one.answer] })),
  ];
}

/**
 * The first entries, and a button for the others.
 *
 * @param {HTMLElement[]} entries
 * @returns {HTMLElement[]}
 */
function list(entries) {
  const box = make("ul", {}, ...entries.slice(0, FIRST));
  const rest = entries.slice(FIRST);
  if (!rest.length) return [box];
  const showRest = () => {
    box.append(...rest);
    more.remove();
  };
  const more = button(`Show ${rest.length} more`, showRest, { cls: "quiet" });
  return [box, more];
}

/** Fetch what is to be checked and show it. */
export async function showSuspects() {
  /** @type {Suspects} */
  const found = await call("/api/suspects");
  const entries = suspectsIn(found).map((one) => one.node);
  if (!entries.length) {
    byId("suspects").replaceChildren();
    return;
  }
  const title = entries.length === 1 ? "Check this" : `Check these ${entries.length}`;
  const words = found.contradictions.length
    ? "Not all of these answers can be right. The one marked is the likeliest slip; look, and take it back if it is."
    : "These answers do not fit what the others say. Look, and take back what is wrong.";
  const people = found.people.map((person) => `${person.name || "no name"} about ${percent(person.wrong)}`);
  const rates = `Estimated share of wrong answers: ${people.join(", ")}.`;
  const section = make(
    "section",
    { cls: "note warn", "aria-labelledby": "suspects-title" },
    make("h2", { id: "suspects-title", text: title }),
    make("p", { cls: "muted", text: words }),
    ...list(entries),
    make("p", { cls: "muted small", text: rates }),
  );
  byId("suspects").replaceChildren(section);
}
