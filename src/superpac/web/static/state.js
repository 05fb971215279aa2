// What the page knows at this moment, shared by all its parts.

import { recall } from "./storage.js";

/**
 * Reply of GET /api/session.
 *
 * @typedef {object} SessionInfo
 * @property {string} id
 * @property {"image" | "text" | "sound" | "table" | "vector"} kind of the data
 * @property {string} question what is asked of two items, in words
 * @property {boolean} crisp whether pictures are so small that their pixels are shown as squares
 * @property {number} items
 * @property {{ n_clusters: number | "auto", affinity: string }} spec
 * @property {"preparing" | "ready" | "cancelled" | "failed"} phase
 * @property {string} stage
 * @property {number} done
 * @property {number} total
 * @property {string} message
 * @property {boolean} usable whether questions can be asked
 * @property {string[]} formats of the export
 */

/**
 * What an item is.
 *
 * @typedef {{ item: number, id: string, rows: [string, string][], text: string, behind: boolean }} Shown
 */

/**
 * An item as it is shown in a question; a table's columns and values are in `rows`, a text's words in `text`. Where
 * there is more to see `behind` it, it is a part of a photo. `faces` are other members of its `group`, surest first.
 *
 * @typedef {Shown & { group: Group | null, faces: number[] }} Card
 */

/**
 * A cluster as people call it; numbers begin at 1.
 *
 * @typedef {{ number: number, name: string, size: number }} Group
 */

/**
 * What is asked: `item` against the one other, or against each of several.
 *
 * @typedef {object} Question
 * @property {"pair" | "strip" | "wall" | "board" | "second" | "test"} shape
 * @property {Card} item
 * @property {Card[]} others
 * @property {number} seq
 * @property {string} reason
 * @property {Record<string, number>} numbers of a test: which `number` it is `of` how many
 */

/**
 * A question; or none because everything is settled (`finished`); or none yet because it is still being computed.
 *
 * `reached` says that the goal is reached with confidence, `stopped` why nothing is computed any more.
 *
 * @typedef {{ question: Question | null, finished: boolean, reached?: boolean, stopped?: string }} Reply
 */

/** @typedef {"same" | "different" | "unsure"} Answer */
/** @typedef {"best" | "pair" | "strip" | "wall" | "board"} Shape */
/** @typedef {"ask" | "clusters" | "review" | "history" | "export"} View */

/**
 * The form of question that a word names, if it names one.
 *
 * @param {string | null | undefined} word
 * @returns {Shape | null}
 */
export function asShape(word) {
  const known = ["best", "pair", "strip", "wall", "board"];
  return known.includes(word ?? "") ? /** @type {Shape} */ (word) : null;
}

export const state = {
  /** @type {SessionInfo | null} */
  info: null,
  /** @type {Question | null} */
  question: null,
  finished: false,
  /** The goal is reached, and the person has not chosen to go on. */
  pausing: false,
  /** An answer is on its way to the server. */
  sending: false,
  /** The server is still computing the next question. */
  thinking: false,
  /** When the question was painted, in milliseconds of performance.now(). */
  shownAt: 0,
  /** @type {Shape} */
  shape: asShape(recall("shape")) ?? "pair",
  annotator: recall("annotator") || "",
  /** @type {View} */
  view: "ask",
  /** @type {"walls" | "map"} */
  look: "walls",
};

/**
 * Facts of the session; only for parts that are shown once they are known.
 *
 * @returns {SessionInfo}
 */
export function session() {
  if (state.info === null) throw new Error("The session is not known yet.");
  return state.info;
}

/**
 * Class that keeps the pixels of small pictures sharp.
 *
 * @returns {"crisp" | ""}
 */
export function crispness() {
  return session().crisp ? "crisp" : "";
}

/**
 * Whether items are seen as pictures, and not as words or values.
 *
 * @returns {boolean}
 */
export function pictured() {
  return !["table", "text"].includes(session().kind);
}

/**
 * Whether the person has to wait for the next question, so that keys and buttons do nothing.
 *
 * @returns {boolean}
 */
export function busy() {
  return state.sending || state.thinking;
}

/**
 * Whether a question shows one item beside several, of which some are chosen or marked.
 *
 * @param {Question | null} question
 * @returns {boolean}
 */
export function ofSeveral(question) {
  return question !== null && !["pair", "second", "test"].includes(question.shape);
}

/** The question that was shown may no longer be the current one: coming to the view asks for it anew. */
export function forgetQuestion() {
  state.question = null;
  state.finished = false;
  state.pausing = false;
}
