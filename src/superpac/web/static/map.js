// All items in two dimensions, coloured by cluster.

import { call } from "./api.js";
import { colour } from "./colours.js";
import { byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { openItem } from "./item.js";
import { thumb } from "./pictures.js";
import { state } from "./state.js";

/**
 * Reply of GET /api/map: one entry per item in each list, coordinates from 0 to 1000.
 *
 * @typedef {object} Points
 * @property {number[]} items
 * @property {number[]} x
 * @property {number[]} y
 * @property {number[]} cluster
 * @property {(0 | 1)[]} certain
 * @property {Record<number, string>} names
 */

const PAD = 18; // pixels kept free at the edge
const REACH = 14; // pixels from a point within which the mouse means it
const MANY = 5000; // points from which on they are drawn smaller
const FULL_TURN = 2 * Math.PI;

/** @type {Points | null} */
let points = null;

/**
 * Where a point lies on the canvas.
 *
 * @param {Points} all
 * @param {number} n
 * @param {{ width: number, height: number }} canvas
 * @returns {[number, number]}
 */
function place(all, n, { width, height }) {
  const x = PAD + (all.x[n] / 1000) * (width - 2 * PAD);
  const y = height - PAD - (all.y[n] / 1000) * (height - 2 * PAD);
  return [x, y];
}

/** @param {Points} all */
function drawLegend(all) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const cluster of all.cluster) counts.set(cluster, (counts.get(cluster) || 0) + 1);
  const largestFirst = [...counts].sort((a, b) => b[1] - a[1]);
  const lines = largestFirst.map(([cluster]) => {
    const dot = make("span", { cls: "dot", colour: colour(cluster) });
    return make("li", {}, dot, all.names[cluster] || `Cluster ${cluster + 1}`);
  });
  byId("legend").replaceChildren(...lines);
}

/** Draw the points in the size that the canvas has now. */
function draw() {
  if (points === null) return;
  const all = points;
  const canvas = byId("canvas", HTMLCanvasElement);
  const box = canvas.getBoundingClientRect();
  const pen = canvas.getContext("2d");
  if (!box.width || !pen) return;
  const scale = window.devicePixelRatio || 1;
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  pen.scale(scale, scale);
  const size = all.x.length > MANY ? 1.6 : 2.6;
  pen.strokeStyle = getComputedStyle(document.body).color;
  pen.lineWidth = 1.2;
  // those settled by answers come last, so that their rings lie on top
  for (const certain of [0, 1]) {
    pen.globalAlpha = certain ? 1 : 0.7;
    for (let n = 0; n < all.x.length; n += 1) {
      if (all.certain[n] !== certain) continue;
      pen.fillStyle = colour(all.cluster[n]);
      pen.beginPath();
      pen.arc(...place(all, n, box), certain ? size + 1.6 : size, 0, FULL_TURN);
      pen.fill();
      if (certain) pen.stroke();
    }
  }
}

/**
 * Item under the mouse.
 *
 * @param {MouseEvent} event
 * @returns {number | null}
 */
function nearest(event) {
  if (points === null) return null;
  const box = byId("canvas").getBoundingClientRect();
  let best = null;
  let least = REACH ** 2;
  for (let n = 0; n < points.x.length; n += 1) {
    const [x, y] = place(points, n, box);
    const gap = (x - event.clientX + box.left) ** 2 + (y - event.clientY + box.top) ** 2;
    if (gap < least) {
      least = gap;
      best = points.items[n];
    }
  }
  return best;
}

/** Fetch the map and draw it. */
export async function showMap() {
  try {
    /** @type {Points} */
    const found = await call("/api/map");
    points = found;
    drawLegend(found);
    byId("clusters-words").textContent =
      "Items that resemble each other lie together; ringed ones are settled by answers. Click one to see it.";
    draw();
  } catch (error) {
    complain(error);
  }
}

/** Let the map react to the mouse and to the size of the window. */
export function listenToMap() {
  const canvas = byId("canvas");
  canvas.addEventListener("click", (event) => {
    const item = nearest(event);
    if (item !== null) openItem(item);
  });
  canvas.addEventListener("pointermove", (event) => {
    const item = nearest(event);
    byId("hover").replaceChildren(...(item === null ? [] : [thumb(item, { width: 48, height: 48 })]));
  });
  window.addEventListener("resize", () => {
    if (state.view === "clusters" && state.look === "map") draw();
  });
}
