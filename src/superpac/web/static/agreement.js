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
 * @typedef {object} Person
 * @property {string} name
 * @property {number} answers
 * @property {number | null} believed share of their answers that all answers together bear out
 * @property {[number, number] | null} test right, of how many
 */

/** @typedef {{ people: [string, string], judged: number, agreed: number, kappa: number | null }} Between */

/**
 * Reply of GET /api/agreement.
 *
 * @typedef {object} Agreement
 * @property {Person[]} people
 * @property {Between[]} between each two people who judged the same pairs
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

/**
 * @param {Person} person
 * @param {boolean} tested whether there is a test
 * @returns {HTMLElement}
 */
function personRow({ name, answers, believed, test }, tested) {
  const cells = [who(name), answers.toLocaleString(), believed === null ? "–" : `${Math.round(100 * believed)}%`];
  if (tested) cells.push(test ? `${test[0]} of ${test[1]}` : "–");
  return make("tr", {}, ...cells.map((text) => make("td", { text })));
}

/**
 * @param {Between} found
 * @returns {HTMLElement}
 */
function betweenRow({ people, judged, agreed, kappa }) {
  const cells = [people.map(who).join(" and "), judged.toLocaleString(), `${Math.round((100 * agreed) / judged)}%`];
  cells.push(kappa === null ? "–" : kappa.toFixed(2));
  return make("tr", {}, ...cells.map((text) => make("td", { text })));
}

/**
 * @param {string} caption
 * @param {string[]} heads
 * @param {HTMLElement[]} rows
 * @returns {HTMLElement | null}
 */
function table(caption, heads, rows) {
  if (!rows.length) return null;
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col", text })));
  return make("table", {}, make("caption", { text: caption }), make("thead", {}, head), make("tbody", {}, ...rows));
}

/** Fetch the agreement and show it where several people took part. */
export async function showAgreement() {
  /** @type {Agreement} */
  const found = await call("/api/agreement");
  if (found.people.length < 2 && found.judged === 0) {
    byId("agreement").replaceChildren();
    return;
  }
  const tested = found.people.some((person) => person.test);
  const heads = ["Who", "Answers", "Believed", ...(tested ? ["Test"] : [])];
  const people = table("People", heads, found.people.map((person) => personRow(person, tested)));
  const pairs = table("Each with each", ["Who", "Pairs", "Agree", "Kappa"], found.between.map(betweenRow));
  const { judged, agreed, kappa } = found;
  const how = judged
    ? `Two people judged ${judged} pairs and agreed on ${agreed}; Cohen’s kappa ${kappa.toFixed(2)}.`
    : "No pair has been judged by two people yet.";
  const tables = make("div", { cls: "tables" }, people, pairs);
  const words = make("p", { text: how });
  const apart = found.disagreements.map(disagreement);
  byId("agreement").replaceChildren(make("div", { cls: "note" }, tables, words, ...apart));
}
