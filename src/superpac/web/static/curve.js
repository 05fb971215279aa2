// The curve of the estimated error over the answers, with its interval and the goal.

import { make } from "./dom.js";

/**
 * Estimate of the share of wrong items after so many answers, with a 95% interval.
 *
 * @typedef {{ questions: number, estimate: number, low: number, high: number }} Point
 */

const [WIDTH, HEIGHT] = [320, 110];
const [LEFT, RIGHT, TOP, BOTTOM] = [36, 8, 8, 20]; // room for the numbers at the edges
const FEWEST = 3; // points that make a curve

/**
 * @param {string} tag
 * @param {Record<string, string | number>} props
 * @param {string} [text]
 * @returns {SVGElement}
 */
function shape(tag, props, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, String(value));
  if (text !== undefined) node.textContent = text;
  return node;
}

/**
 * @param {number} share
 * @returns {string}
 */
function percent(share) {
  return `${Math.round(share * 1000) / 10}%`;
}

/**
 * The curve in a sentence, for those who do not see it.
 *
 * @param {Point[]} points
 * @param {number} goal
 * @returns {string}
 */
function inWords(points, goal) {
  const [first, last] = [points[0], points[points.length - 1]];
  const at = (/** @type {Point} */ p) => `${percent(p.estimate)}, between ${percent(p.low)} and ${percent(p.high)}`;
  return (
    `Estimated share of wrong items: after ${first.questions} answers ${at(first)}; ` +
    `after ${last.questions} answers ${at(last)}; the goal is ${percent(goal)}.`
  );
}

/**
 * Draw the curve into a place, or nothing while there are too few points.
 *
 * @param {HTMLElement} place
 * @param {Point[]} points
 * @param {number} goal
 */
export function drawCurve(place, points, goal) {
  if (points.length < FEWEST) {
    place.replaceChildren();
    return;
  }
  const [begin, end] = [points[0].questions, points[points.length - 1].questions];
  const top = Math.max(...points.map((p) => p.high), 2 * goal);
  const across = (/** @type {number} */ n) => LEFT + ((n - begin) / Math.max(end - begin, 1)) * (WIDTH - LEFT - RIGHT);
  const up = (/** @type {number} */ share) => HEIGHT - BOTTOM - (share / top) * (HEIGHT - TOP - BOTTOM);
  /** @param {(p: Point) => number} value */
  const path = (value) => points.map((p) => `${across(p.questions).toFixed(1)},${up(value(p)).toFixed(1)}`);
  const band = [...path((p) => p.high), ...path((p) => p.low).reverse()].join(" ");
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": inWords(points, goal) });
  svg.append(
    shape("polygon", { points: band, class: "band" }),
    shape("polyline", { points: path((p) => p.estimate).join(" "), class: "estimate" }),
    shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(goal), y2: up(goal), class: "goal" }),
    shape("text", { x: LEFT - 4, y: TOP + 8, "text-anchor": "end" }, percent(top)),
    shape("text", { x: LEFT - 4, y: HEIGHT - BOTTOM + 3, "text-anchor": "end" }, "0"),
    shape("text", { x: LEFT, y: HEIGHT - 5 }, String(begin)),
    shape("text", { x: WIDTH - RIGHT, y: HEIGHT - 5, "text-anchor": "end" }, `${end} answers`),
  );
  const words = make("figcaption", { cls: "muted", text: "Estimated share that is wrong, with its 95% interval" });
  place.replaceChildren(svg, words);
}
