// The figures under the question, and the one sentence that says when to stop.

import { call } from "./api.js";
import { byId, make } from "./dom.js";

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
 * @property {number} clusters
 * @property {number | null} [clusters_sure] where the number of clusters is found while asking
 * @property {number | null} per_minute
 * @property {ErrorLeft | null} error_left null where the strategy gives no estimate
 * @property {number} contradictions
 */

const GOAL = 0.01; // share of items in a wrong cluster at which one may stop
const SLACK = 1e-9; // keeps 0.7 from being rounded up to 0.8 because it is stored as 0.7000000000000001

/**
 * A share in percent, with one decimal below ten percent.
 *
 * @param {number} share
 * @param {(value: number) => number} [round]
 * @returns {string}
 */
function percent(share, round = Math.round) {
  const steps = share < 0.1 ? 10 : 1;
  return `${round(100 * share * steps) / steps}%`;
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
 * Whether an estimate would be shown as 0%, which sounds surer than it is.
 *
 * @param {number} share
 * @returns {boolean}
 */
function tiny(share) {
  return share < 0.0005;
}

/**
 * Sentence that says that one may stop; empty until then, and where there is no estimate.
 *
 * @param {ErrorLeft | null} left
 * @returns {string}
 */
export function stopWords(left) {
  if (left === null || left.high > GOAL) return "";
  const about = tiny(left.estimate) ? "Less than 0.1%" : `About ${percent(left.estimate)}`;
  return `${about} in a wrong cluster, at most ${upper(left.high)}: you can stop.`;
}

/**
 * @param {string | number} value
 * @param {string} words
 * @param {string} [extra] class
 * @returns {HTMLElement}
 */
function figure(value, words, extra = "") {
  return make("div", { cls: `figure ${extra}`.trim() }, make("b", { text: value }), make("span", { text: words }));
}

/**
 * How many groups there are, or how many have been met of those that were asked for.
 *
 * @param {Progress} progress
 * @returns {HTMLElement}
 */
function groups(progress) {
  const sure = progress.clusters_sure ?? null;
  return sure === null
    ? figure(`${progress.groups} of ${progress.clusters}`, "groups met")
    : figure(progress.clusters, `groups found (${Math.round(100 * sure)} % sure)`);
}

/**
 * @param {ErrorLeft} left
 * @returns {HTMLElement}
 */
function estimate(left) {
  const about = tiny(left.estimate) ? "< 0.1%" : `≈ ${percent(left.estimate)}`;
  const words = `in a wrong cluster, between ${lower(left.low)} and ${upper(left.high)} (95% interval)`;
  return figure(about, words, "wide");
}

/** @param {Progress} progress */
function draw(progress) {
  const pace = progress.per_minute;
  const left = progress.error_left ?? null;
  const parts = [
    figure(progress.questions.toLocaleString(), progress.questions === 1 ? "answer" : "answers"),
    figure(progress.implied.toLocaleString(), "pairs known for free"),
    groups(progress),
    figure(pace === null ? "–" : Math.round(pace), "answers per minute"),
  ];
  const stop = stopWords(left);
  if (left !== null && !stop) parts.push(estimate(left));
  byId("figures").replaceChildren(...parts);
  const goal = byId("goal");
  if (goal.textContent !== stop) goal.textContent = stop; // so that screen readers say it once, not after every answer
  const wrongs = byId("wrongs");
  wrongs.hidden = !progress.contradictions;
  wrongs.textContent = String(progress.contradictions);
  wrongs.title = "Answers that contradict others";
}

/** Fetch the figures and show them. */
export async function showProgress() {
  try {
    draw(await call("/api/progress"));
  } catch {
    // the next answer will say what is wrong
  }
}
