// How far people agree who judged the same pairs, and deciding between them.

import { act, call, newKey } from "./api.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { thumb } from "./pictures.js";
import { state } from "./state.js";
import { refresh } from "./views.js";

/**
 * @typedef {object} Disagreement
 * @property {number} i
 * @property {number} j
 * @property {number} second number of the second opinion
 * @property {string} first_by
 * @property {string} first_answer
 * @property {string} second_by
 * @property {string} second_answer
 * @property {"first" | "second" | null} decided
 */

/**
 * Reply of GET /api/agreement.
 *
 * @typedef {object} Agreement
 * @property {{ name: string, answers: number }[]} people
 * @property {number} judged pairs that two people judged
 * @property {number} agreed
 * @property {number} kappa
 * @property {Disagreement[]} disagreements
 */

/**
 * @param {number} second
 * @param {"first" | "second"} keep
 */
async function decide(second, keep) {
  try {
    await act("/api/decisions", { annotator: state.annotator, key: newKey(), second, keep });
    refresh();
  } catch (error) {
    complain(error);
  }
}

/**
 * @param {string} name
 * @returns {string}
 */
function who(name) {
  return name || "no name";
}

/**
 * @param {Disagreement} between
 * @returns {HTMLElement}
 */
function disagreement(between) {
  const { first_answer: first, second_answer: second, decided } = between;
  const opinions = `${who(between.first_by)}: ${first}. ${who(between.second_by)}: ${second}.`;
  const decision = decided ? ` Decided: ${decided === "first" ? first : second}.` : "";
  /** @type {(keep: "first" | "second", said: string) => HTMLElement} */
  const choice = (keep, said) =>
    button(said, () => decide(between.second, keep), { "aria-label": `Decide: ${said}` });
  return make(
    "div",
    { cls: "rival" },
    thumb(between.i),
    thumb(between.j),
    make("span", { text: opinions + decision }),
    ...(decided ? [] : [choice("first", first), choice("second", second)]),
  );
}

/** Fetch the agreement and show it where several people took part. */
export async function showAgreement() {
  /** @type {Agreement} */
  const found = await call("/api/agreement");
  if (found.people.length < 2 && found.judged === 0) {
    byId("agreement").replaceChildren();
    return;
  }
  const people = found.people.map((person) => `${who(person.name)} ${person.answers}`).join(", ");
  const { judged, agreed, kappa } = found;
  const how = judged
    ? `Two people judged ${judged} pairs and agreed on ${agreed}; Cohen’s kappa ${kappa.toFixed(2)}.`
    : "No pair has been judged by two people yet.";
  const words = make("p", { text: `${people}. ${how}` });
  byId("agreement").replaceChildren(make("div", { cls: "note" }, words, ...found.disagreements.map(disagreement)));
}
