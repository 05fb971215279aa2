// How far the work is: one line, the figures under it, the curve of the error, and the one sign that it is finished.

import { call } from "./api.js";
import { drawCurve } from "./curve.js";
import { byId, make } from "./dom.js";
import { state } from "./state.js";

/**
 * Share of the items that are in a wrong cluster, with a 95% interval.
 *
 * @typedef {{ estimate: number, low: number, high: number }} ErrorLeft
 */

/**
 * Reply of GET /api/progress, as far as it is shown.
 *
 * @typedef {object} Progress
 * @property {number} questions
 * @property {number} implied
 * @property {number} groups
 * @property {number | null} clusters
 * @property {number | null} [clusters_sure] where the number of clusters is found while asking
 * @property {number} settled
 * @property {number} items
 * @property {number} set_aside
 * @property {number | null} per_minute
 * @property {ErrorLeft | null} error_left null where the strategy gives no estimate
 * @property {number} goal share of wrong items at which the work is finished
 * @property {boolean} reached
 * @property {number | null} questions_left null where nothing honest can be said
 * @property {import("./curve.js").Point[]} curve
 * @property {number} contradictions
 * @property {number} [new] groups with new items
 */

const SLACK = 1e-9; // keeps 0.7 from being rounded up to 0.8 because it is stored as 0.7000000000000001

/**
 * A share in percent, with one decimal below ten percent.
 *
 * @param {number} share
 * @param {(value: number) => number} [round]
 * @returns {string} without the sign
 */
function percent(share, round = Math.round) {
  const steps = share < 0.1 ? 10 : 1;
  return String(round(100 * share * steps) / steps);
}

/**
 * Upper end of an interval: rounded up, so that "at most" holds for the figure that is shown.
 *
 * @param {number} share
 * @returns {string}
 */
function upper(share) {
  return percent(share, (value) => Math.ceil(value - SLACK));
}

/**
 * Lower end of an interval, rounded down.
 *
 * @param {number} share
 * @returns {string}
 */
function lower(share) {
  return percent(share, (value) => Math.floor(value + SLACK));
}

/**
 * An estimate in words; one that would be shown as 0% sounds surer than it is.
 *
 * @param {ErrorLeft} left
 * @returns {string}
 */
export function wrongWords(left) {
  const about = left.estimate < 0.0005 ? "less than 0.1%" : `about ${percent(left.estimate)}%`;
  return `${about} wrong (${lower(left.low)} to ${upper(left.high)})`;
}

/**
 * A number as one says it when it is only known roughly.
 *
 * @param {number} count
 * @returns {number}
 */
function roughly(count) {
  const step = count < 20 ? 5 : count < 200 ? 10 : count < 1000 ? 50 : 100;
  return Math.max(step, Math.round(count / step) * step);
}

/**
 * @param {number} minutes
 * @returns {string}
 */
function span(minutes) {
  if (minutes < 1.5) return "a minute";
  if (minutes < 100) return `${Math.round(minutes)} minutes`;
  return `${Math.round(minutes / 60)} hours`;
}

/**
 * What is left to do; empty where nothing honest can be said.
 *
 * @param {Progress} progress
 * @returns {string}
 */
function remaining({ reached, questions_left: left, per_minute: pace }) {
  if (reached || left === null) return "";
  const questions = roughly(left);
  return `some ${questions.toLocaleString()} questions${pace ? ` or ${span(questions / pace)}` : ""} left`;
}

/**
 * The one line of progress.
 *
 * @param {Progress} progress
 * @returns {string}
 */
export function progressLine(progress) {
  const items = progress.items - progress.set_aside;
  const left = progress.error_left ?? null;
  const parts = [
    `${progress.settled.toLocaleString()} of ${items.toLocaleString()} settled`,
    left === null ? "" : wrongWords(left),
    left === null ? "" : remaining(progress),
  ];
  return parts.filter(Boolean).join(", ");
}

/**
 * Sentence that says that the goal is reached; empty until then, and where there is no estimate.
 *
 * @param {Progress} progress
 * @returns {string}
 */
export function goalWords({ reached, error_left: left, goal }) {
  if (!reached || !left) return "";
  return `Finished: at most ${upper(left.high)}% is wrong, and ${percent(goal)}% was the goal.`;
}

/**
 * @param {string | number} value
 * @param {string} words
 * @returns {HTMLElement}
 */
function figure(value, words) {
  return make("div", { cls: "figure" }, make("b", { text: value }), make("span", { text: words }));
}

/**
 * How many groups there are, or how many have been met of those that were asked for. Before answers have joined them,
 * one group may have been met in several parts, so that there are more of these than groups.
 *
 * @param {Progress} progress
 * @returns {HTMLElement}
 */
function groups({ groups: met, clusters, clusters_sure: sure }) {
  if (clusters !== null && (sure ?? null) !== null) {
    return figure(clusters, `groups found (${Math.round(100 * Number(sure))} % sure)`);
  }
  if (clusters === null) return figure(met, met === 1 ? "group met" : "groups met");
  if (met > clusters) return figure(met, `parts of groups met; ${clusters} groups expected`);
  return figure(`${met} of ${clusters}`, "groups met");
}

/**
 * Set a text only where it differs, so that screen readers say it once and not after every answer.
 *
 * @param {HTMLElement} node
 * @param {string} words
 */
function tell(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

/** @param {Progress} progress */
function draw(progress) {
  const pace = progress.per_minute;
  const left = progress.error_left ?? null;
  byId("figures").replaceChildren(
    figure(progress.questions.toLocaleString(), progress.questions === 1 ? "answer" : "answers"),
    figure(progress.implied.toLocaleString(), "pairs known for free"),
    groups(progress),
    figure(pace === null ? "–" : Math.round(pace), "answers per minute"),
  );
  tell(byId("line"), progressLine(progress));
  tell(byId("goal"), goalWords(progress));
  for (const place of ["curve", "done-curve"]) drawCurve(byId(place), progress.curve ?? [], progress.goal);
  drawDone(progress, left);
  const wrongs = byId("wrongs");
  const wait = progress.contradictions + (progress.new ?? 0);
  wrongs.hidden = !wait;
  wrongs.textContent = String(wait);
  wrongs.title = "Answers that contradict others, and groups with new items";
}

/**
 * What stands where the question was: that the goal is reached, or that nothing is left to ask.
 *
 * @param {Progress} progress
 * @param {ErrorLeft | null} left
 */
function drawDone(progress, left) {
  const unsure = left !== null && !progress.reached;
  const title = state.finished ? (unsure ? "Nothing is left to ask" : "Everything is settled") : "Finished";
  tell(byId("done-title"), title);
  const check = unsure ? " Look through the clusters for what answers cannot tell." : "";
  const why = goalWords(progress) || (left === null ? "" : `It is ${wrongWords(left)}.${check}`);
  tell(byId("done-words"), why);
  byId("go-on").hidden = state.finished;
}

/** Fetch the figures and show them. */
export async function showProgress() {
  try {
    draw(await call(`/api/progress?annotator=${encodeURIComponent(state.annotator)}`));
  } catch {
    // the next answer will say what is wrong
  }
}
