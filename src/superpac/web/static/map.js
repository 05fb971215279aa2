// All items in two dimensions, coloured by group: pan, zoom, a lasso that selects, names where groups are densest, a
// preview at the pointer, and arrow keys that walk from item to item.

import { call } from "./api.js";
import { offerGroups } from "./arrange.js";
import { colour } from "./colours.js";
import { button, byId, make } from "./dom.js";
import { Dots, packed } from "./dots.js";
import { complain } from "./errors.js";
import { openItem } from "./item.js";
import { say } from "./messages.js";
import { thumb } from "./pictures.js";
import { anySelected, isSelected, onSelect, select, toggle } from "./selection.js";
import { state } from "./state.js";

/**
 * Reply of GET /api/map. Lists of whole numbers come packed: 16 bits each, the lower byte first, in base 64.
 *
 * @typedef {object} Packed
 * @property {number} count of items
 * @property {number[] | null} items their numbers; all from 0 on where there are none
 * @property {string} x from 0 to 65535
 * @property {string} y
 * @property {string} cluster the highest bit says whether answers tie it there
 * @property {{ cluster: number, title: string, first: number }[]} groups
 */

/** @typedef {{ x: number, y: number, count: number }} Sum */

/** @typedef {{ cluster: number, title: string, first: number, x: number, y: number, count: number }} Group */

/**
 * @typedef {object} Points
 * @property {number} count
 * @property {number[] | null} items
 * @property {Uint16Array} x
 * @property {Uint16Array} y
 * @property {Uint16Array} cluster
 * @property {Group[]} groups the largest first
 * @property {Map<number, number[]>} cells points by the square of the plane that they lie in
 */

const SPAN = 65535;
const CELLS = 64; // squares along a side
const PARTS = 16; // squares along a side, in which the densest place of a group is looked for
const PAD = 22; // pixels kept free at the edge
const REACH = 16; // pixels from a point within which the pointer means it
const TIED = 0x8000;
const WAIT_MS = 120; // before the name of a point is asked for

/** @type {Points | null} */
let points = null;
/** Zoom, and the place of the plane that is in the middle of the canvas. */
const view = { zoom: 1, x: SPAN / 2, y: SPAN / 2 };
/** @type {Map<number, { x: number, y: number }>} */
const fingers = new Map();
/** @type {{ x: number, y: number }[] | null} */
let lasso = null;
let lassoing = false; // whether dragging selects, and does not pan
let dragged = false;
/** @type {number | null} */
let current = null; // place in the lists of the point that keys are at
let planned = false;
let asking = 0;

/** @returns {HTMLCanvasElement} */
function canvas() {
  return byId("canvas", HTMLCanvasElement);
}

/**
 * @param {string} packed
 * @returns {Uint16Array}
 */
function unpacked(packed) {
  const text = atob(packed);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const found = new Uint16Array(bytes.length / 2);
  for (let n = 0; n < found.length; n += 1) found[n] = bytes[2 * n] | (bytes[2 * n + 1] << 8);
  return found;
}

/** @returns {{ width: number, height: number, scale: number }} */
function frame() {
  const { clientWidth: width, clientHeight: height } = canvas();
  return { width, height, scale: ((Math.min(width, height) - 2 * PAD) / SPAN) * view.zoom };
}

/**
 * Where a place of the plane lies on the canvas.
 *
 * @param {number} x
 * @param {number} y
 * @param {{ width: number, height: number, scale: number }} box
 * @returns {[number, number]}
 */
function onCanvas(x, y, box) {
  return [box.width / 2 + (x - view.x) * box.scale, box.height / 2 - (y - view.y) * box.scale];
}

/**
 * The place of the plane under a place of the canvas.
 *
 * @param {number} x
 * @param {number} y
 * @returns {[number, number]}
 */
function inPlane(x, y) {
  const box = frame();
  return [view.x + (x - box.width / 2) / box.scale, view.y - (y - box.height / 2) / box.scale];
}

/**
 * @param {Points} all
 * @param {number} n
 * @returns {number}
 */
function itemAt(all, n) {
  return all.items ? all.items[n] : n;
}

/**
 * @param {number} x
 * @param {number} y
 * @returns {number}
 */
function cell(x, y) {
  const side = SPAN / CELLS;
  const clip = (/** @type {number} */ at) => Math.max(0, Math.min(CELLS - 1, Math.floor(at / side)));
  return clip(x) * CELLS + clip(y);
}

/**
 * Point nearest to a place of the plane, within a distance.
 *
 * @param {number} x
 * @param {number} y
 * @param {number} reach
 * @param {(n: number) => boolean} [fits]
 * @returns {number | null}
 */
function nearest(x, y, reach, fits = () => true) {
  if (!points) return null;
  const side = SPAN / CELLS;
  let best = null;
  let least = reach ** 2;
  const low = [Math.floor((x - reach) / side), Math.floor((y - reach) / side)].map((at) => Math.max(at, 0));
  const high = [Math.floor((x + reach) / side), Math.floor((y + reach) / side)].map((at) => Math.min(at, CELLS - 1));
  for (let a = low[0]; a <= high[0]; a += 1) {
    for (let b = low[1]; b <= high[1]; b += 1) {
      for (const n of points.cells.get(a * CELLS + b) ?? []) {
        const gap = (points.x[n] - x) ** 2 + (points.y[n] - y) ** 2;
        if (gap < least && fits(n)) {
          least = gap;
          best = n;
        }
      }
    }
  }
  return best;
}

/** Draw in the next frame, once. */
function plan() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(() => {
    planned = false;
    draw();
  });
}

/** Draw what is in sight in the size that the canvas has now. */
function draw() {
  const pen = canvas().getContext("2d");
  const box = frame();
  if (!points || !box.width || !pen) return;
  const all = points;
  const ratio = window.devicePixelRatio || 1;
  canvas().width = box.width * ratio;
  canvas().height = box.height * ratio;
  pen.scale(ratio, ratio);
  const ink = getComputedStyle(document.body).color;
  const crowd = Math.sqrt(2000 / Math.max(all.count, 1));
  const size = Math.max(1.2, Math.min(6, 2.2 * crowd * Math.sqrt(view.zoom) + 1.2));
  const marked = size < 2 ? drawSquares(pen, all, box, size, ratio) : drawDiscs(pen, all, box, size, ink);
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  for (let n = 0; n < marked.length; n += 2) ring(pen, marked[n], marked[n + 1], size + 4);
  if (current !== null) {
    pen.lineWidth = 3;
    const [x, y] = onCanvas(all.x[current], all.y[current], box);
    ring(pen, x, y, size + 8);
  }
  drawNames(pen, all, box, ink);
  drawLasso(pen, ink);
}

/** @typedef {{ width: number, height: number, scale: number }} Box */

/**
 * Draw many small items, those that answers tie on top; gives the places of the selected ones.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {Points} all
 * @param {Box} box
 * @param {number} size
 * @param {number} ratio pixels of the canvas per pixel of the page
 * @returns {number[]}
 */
function drawSquares(pen, all, box, size, ratio) {
  const dots = new Dots(canvas().width, canvas().height);
  /** @type {Map<number, number>} */
  const colours = new Map();
  /** @type {number[]} */
  const marked = [];
  /** @type {number[]} */
  const tied = [];
  const any = anySelected();
  const across = box.width / 2 - view.x * box.scale;
  const down = box.height / 2 + view.y * box.scale;
  for (let n = 0; n < all.count; n += 1) {
    const x = across + all.x[n] * box.scale;
    const y = down - all.y[n] * box.scale;
    if (x < -9 || y < -9 || x > box.width + 9 || y > box.height + 9) continue;
    if (any && isSelected(itemAt(all, n))) marked.push(x, y);
    const key = all.cluster[n];
    if (key & TIED) {
      tied.push(x, y, key & ~TIED);
      continue;
    }
    let shade = colours.get(key);
    if (shade === undefined) {
      shade = packed(pen, colour(key), 0.72);
      colours.set(key, shade);
    }
    dots.square(x * ratio, y * ratio, size * ratio, shade);
  }
  pen.putImageData(dots.image, 0, 0);
  for (let n = 0; n < tied.length; n += 3) {
    pen.fillStyle = colour(tied[n + 2]);
    pen.fillRect(tied[n] - 1.5 * size, tied[n + 1] - 1.5 * size, 3 * size, 3 * size);
  }
  return marked;
}

/**
 * Draw items as discs; gives the places of the selected ones.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {Points} all
 * @param {Box} box
 * @param {number} size
 * @param {string} ink
 * @returns {number[]}
 */
function drawDiscs(pen, all, box, size, ink) {
  /** @type {Map<number, number[]>} */
  const byGroup = new Map();
  /** @type {number[]} */
  const marked = [];
  for (let n = 0; n < all.count; n += 1) {
    const [x, y] = onCanvas(all.x[n], all.y[n], box);
    if (x < -9 || y < -9 || x > box.width + 9 || y > box.height + 9) continue;
    const key = all.cluster[n];
    const list = byGroup.get(key);
    if (list) list.push(x, y);
    else byGroup.set(key, [x, y]);
    if (isSelected(itemAt(all, n))) marked.push(x, y);
  }
  for (const [key, places] of byGroup) {
    const tied = key & TIED;
    pen.fillStyle = colour(key & ~TIED);
    pen.globalAlpha = tied ? 1 : 0.72;
    const wide = tied ? 1.5 * size : size;
    pen.strokeStyle = ink;
    for (let n = 0; n < places.length; n += 2) {
      pen.beginPath();
      pen.arc(places[n], places[n + 1], wide, 0, 2 * Math.PI);
      pen.fill();
      if (tied) pen.stroke();
    }
  }
  pen.globalAlpha = 1;
  return marked;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
function ring(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}

/**
 * Names where their groups are densest, the largest first, each where no other stands already.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {Points} all
 * @param {{ width: number, height: number, scale: number }} box
 * @param {string} ink
 */
function drawNames(pen, all, box, ink) {
  pen.font = "600 13px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = getComputedStyle(canvas()).backgroundColor;
  pen.fillStyle = ink;
  /** @type {[number, number, number][]} */
  const taken = [];
  for (const group of all.groups) {
    const [x, y] = onCanvas(group.x, group.y, box);
    const wide = pen.measureText(group.title).width / 2 + 4;
    if (taken.some(([a, b, w]) => Math.abs(a - x) <= w + wide && Math.abs(b - y) <= 17)) continue;
    taken.push([x, y, wide]);
    pen.strokeText(group.title, x, y);
    pen.fillText(group.title, x, y);
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} ink
 */
function drawLasso(pen, ink) {
  if (!lasso || lasso.length < 2) return;
  pen.beginPath();
  lasso.forEach(({ x, y }, n) => (n ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.lineWidth = 2;
  pen.setLineDash([6, 4]);
  pen.strokeStyle = ink;
  pen.stroke();
  pen.setLineDash([]);
}

/**
 * Zoom by a factor; what is under a place of the canvas stays there.
 *
 * @param {number} factor
 * @param {number} [x]
 * @param {number} [y]
 */
function zoomBy(factor, x = canvas().clientWidth / 2, y = canvas().clientHeight / 2) {
  const [a, b] = inPlane(x, y);
  view.zoom = Math.max(0.5, Math.min(60, view.zoom * factor));
  const [c, d] = inPlane(x, y);
  view.x += a - c;
  view.y += b - d;
  plan();
}

/** Show the whole map. */
function showAll() {
  Object.assign(view, { zoom: 1, x: SPAN / 2, y: SPAN / 2 });
  plan();
}

/**
 * Place of a pointer on the canvas.
 *
 * @param {MouseEvent} event
 * @returns {{ x: number, y: number }}
 */
function place(event) {
  const box = canvas().getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/**
 * Point that a pointer means.
 *
 * @param {{ x: number, y: number }} at
 * @returns {number | null}
 */
function meant(at) {
  return nearest(...inPlane(at.x, at.y), REACH / frame().scale);
}

/**
 * Show an item beside the pointer or the point, and tell its name.
 *
 * @param {number | null} n
 * @param {{ x: number, y: number }} [at]
 * @param {boolean} [aloud] whether screen readers are told
 */
function preview(n, at, aloud = false) {
  const box = byId("hover");
  clearTimeout(asking);
  box.hidden = n === null || !points;
  if (n === null || !points) return;
  const item = itemAt(points, n);
  const words = make("small");
  box.replaceChildren(thumb(item, { loading: "eager" }), words);
  const spot = at ?? spotOf(n);
  const right = spot.x < canvas().clientWidth / 2;
  box.style.left = right ? `${spot.x + 18}px` : "";
  box.style.right = right ? "" : `${canvas().clientWidth - spot.x + 18}px`;
  box.style.top = `${Math.min(spot.y, canvas().clientHeight - 130)}px`;
  asking = window.setTimeout(async () => {
    try {
      /** @type {string[]} */
      const [title] = await call(`/api/titles?item=${item}`);
      words.textContent = title;
      if (aloud) say(`${title}${isSelected(item) ? ", selected" : ""}`);
    } catch {
      words.textContent = ""; // the picture says enough
    }
  }, WAIT_MS);
}

/**
 * @param {number} n
 * @returns {{ x: number, y: number }}
 */
function spotOf(n) {
  const [x, y] = points ? onCanvas(points.x[n], points.y[n], frame()) : [0, 0];
  return { x, y };
}

/** @param {PointerEvent} event */
function down(event) {
  const at = place(event);
  fingers.set(event.pointerId, at);
  canvas().setPointerCapture(event.pointerId);
  dragged = false;
  lasso = (lassoing || event.shiftKey) && fingers.size === 1 ? [at] : null;
}

/** @param {PointerEvent} event */
function move(event) {
  const at = place(event);
  const before = fingers.get(event.pointerId);
  if (!before) {
    if (event.pointerType !== "touch") preview(meant(at), at);
    return;
  }
  if (!dragged && Math.hypot(at.x - before.x, at.y - before.y) < 5 && fingers.size === 1) return;
  dragged = true;
  preview(null);
  if (fingers.size === 2) {
    const [a, b] = [...fingers.values()];
    const other = a === before ? b : a;
    const gap = (/** @type {{ x: number, y: number }} */ one) => Math.hypot(one.x - other.x, one.y - other.y);
    zoomBy(gap(at) / Math.max(gap(before), 1), (at.x + other.x) / 2, (at.y + other.y) / 2);
  } else if (lasso) {
    lasso.push(at);
    plan();
  } else {
    const { scale } = frame();
    view.x -= (at.x - before.x) / scale;
    view.y += (at.y - before.y) / scale;
    plan();
  }
  fingers.set(event.pointerId, at);
}

/** @param {PointerEvent} event */
function up(event) {
  const held = fingers.delete(event.pointerId);
  if (held && lasso && dragged) select(inside(lasso));
  lasso = null;
  plan();
}

/**
 * Items within a polygon on the canvas, by how often a line to the right crosses it.
 *
 * @param {{ x: number, y: number }[]} polygon
 * @returns {number[]}
 */
function inside(polygon) {
  if (!points) return [];
  const box = frame();
  const found = [];
  for (let n = 0; n < points.count; n += 1) {
    const [x, y] = onCanvas(points.x[n], points.y[n], box);
    let within = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a, a += 1) {
      const p = polygon[a];
      const q = polygon[b];
      if (p.y > y !== q.y > y && x < ((q.x - p.x) * (y - p.y)) / (q.y - p.y) + p.x) within = !within;
    }
    if (within) found.push(itemAt(points, n));
  }
  return found;
}

/**
 * Walk to the next point in a direction: the nearest within a cone, else farther out.
 *
 * @param {number} dx
 * @param {number} dy
 */
function walk(dx, dy) {
  if (!points?.count) return;
  const all = points;
  if (current === null) {
    current = nearest(view.x, view.y, 2 * SPAN);
  } else {
    const [x, y] = [all.x[current], all.y[current]];
    const ahead = (/** @type {number} */ n) => {
      const along = (all.x[n] - x) * dx + (all.y[n] - y) * dy;
      const aside = Math.abs((all.x[n] - x) * dy) + Math.abs((all.y[n] - y) * dx);
      return along > 0 && aside <= 1.2 * along;
    };
    for (let reach = SPAN / 80; reach < 3 * SPAN; reach *= 2) {
      const found = nearest(x, y, reach, ahead);
      if (found !== null) {
        current = found;
        break;
      }
    }
  }
  if (current === null) return;
  const spot = spotOf(current);
  const { width, height } = frame();
  if (spot.x < PAD || spot.y < PAD || spot.x > width - PAD || spot.y > height - PAD) {
    view.x = all.x[current];
    view.y = all.y[current];
  }
  plan();
  preview(current, undefined, true);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  /** @type {Record<string, () => void>} */
  const does = {
    ArrowRight: () => walk(1, 0),
    ArrowLeft: () => walk(-1, 0),
    ArrowUp: () => walk(0, 1),
    ArrowDown: () => walk(0, -1),
    "+": () => zoomBy(1.4),
    "=": () => zoomBy(1.4),
    "-": () => zoomBy(1 / 1.4),
    0: showAll,
    " ": () => current !== null && points && toggle(itemAt(points, current)),
    Enter: () => current !== null && points && openItem(itemAt(points, current)),
  };
  if (event.ctrlKey || event.metaKey || !Object.hasOwn(does, event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  does[event.key]();
}

/**
 * Groups by name, with all that they hold at a click.
 *
 * @param {Points} all
 */
function drawLegend(all) {
  const lines = all.groups.map((group) => {
    const choose = () => {
      const numbers = Array.from({ length: all.count }, (_, n) => n);
      select(numbers.filter((n) => (all.cluster[n] & ~TIED) === group.cluster).map((n) => itemAt(all, n)));
    };
    const dot = make("span", { cls: "dot", colour: colour(group.cluster) });
    const name = button(group.title, choose, { cls: "quiet", "aria-label": `Select all of ${group.title}` });
    return make("li", {}, dot, name);
  });
  byId("legend").replaceChildren(...lines);
}

/**
 * Where a group is densest, and how many it holds. A group may lie in parts, and the middle of all of it in another.
 *
 * @param {Map<number, Sum>} squares
 * @returns {Sum}
 */
function heart(squares) {
  let best = { x: 0, y: 0, count: 0 };
  let all = 0;
  for (const [square, { count }] of squares) {
    all += count;
    const near = { x: 0, y: 0, count: 0 };
    for (const across of [-1, 0, 1]) {
      for (const down of [-1, 0, 1]) {
        const row = (square % PARTS) + down;
        const sum = row < 0 || row >= PARTS ? undefined : squares.get(square + across * PARTS + down);
        if (!sum) continue;
        near.x += sum.x;
        near.y += sum.y;
        near.count += sum.count;
      }
    }
    if (near.count > best.count) best = near;
  }
  return { x: best.x / best.count, y: best.y / best.count, count: all };
}

/** Fetch the map and draw it. */
export async function showMap() {
  try {
    /** @type {Packed} */
    const found = await call("/api/map");
    const [x, y, cluster] = [found.x, found.y, found.cluster].map(unpacked);
    /** @type {Map<number, number[]>} */
    const cells = new Map();
    /** @type {Map<number, Map<number, Sum>>} */
    const sums = new Map(); // of each group, square by square
    for (let n = 0; n < found.count; n += 1) {
      const at = cell(x[n], y[n]);
      const list = cells.get(at);
      if (list) list.push(n);
      else cells.set(at, [n]);
      const key = cluster[n] & ~TIED;
      const squares = sums.get(key) ?? new Map();
      if (squares.size === 0) sums.set(key, squares);
      const square = Math.floor((x[n] * PARTS) / (SPAN + 1)) * PARTS + Math.floor((y[n] * PARTS) / (SPAN + 1));
      const sum = squares.get(square) ?? { x: 0, y: 0, count: 0 };
      squares.set(square, { x: sum.x + x[n], y: sum.y + y[n], count: sum.count + 1 });
    }
    const groups = found.groups.flatMap((group) => {
      const squares = sums.get(group.cluster);
      return squares ? [{ ...group, ...heart(squares) }] : [];
    });
    points = { count: found.count, items: found.items, x, y, cluster, groups, cells };
    if (current !== null && current >= found.count) current = null;
    offerGroups(groups.map(({ title, first, cluster: number }) => ({ title, item: first, cluster: number })));
    drawLegend(points);
    byId("clusters-words").textContent =
      "Alike items lie together; ringed ones are tied to their group by answers. Click to select, double-click to " +
      "look closer; drag to move, wheel or pinch to zoom, Shift and drag for a lasso. Arrow keys walk between items.";
    plan();
  } catch (error) {
    complain(error);
  }
}

/** Let the map react to pointers, keys, the selection and the size of the window. */
export function listenToMap() {
  const board = canvas();
  board.addEventListener("pointerdown", down);
  board.addEventListener("pointermove", move);
  board.addEventListener("pointerup", up);
  board.addEventListener("pointercancel", up);
  board.addEventListener("pointerleave", () => preview(null));
  board.addEventListener("click", (event) => {
    const n = dragged ? null : meant(place(event));
    if (n === null || !points) return;
    current = n;
    toggle(itemAt(points, n));
  });
  board.addEventListener("dblclick", (event) => {
    const n = meant(place(event));
    if (n !== null && points) openItem(itemAt(points, n));
  });
  board.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = place(event);
      zoomBy(Math.exp(-event.deltaY / 400), x, y);
    },
    { passive: false },
  );
  board.addEventListener("keydown", pressed);
  board.addEventListener("blur", () => preview(null));
  byId("map-in").addEventListener("click", () => zoomBy(1.5));
  byId("map-out").addEventListener("click", () => zoomBy(1 / 1.5));
  byId("map-all").addEventListener("click", showAll);
  byId("map-lasso").addEventListener("click", () => {
    lassoing = !lassoing;
    byId("map-lasso").setAttribute("aria-pressed", String(lassoing));
  });
  onSelect(() => {
    if (state.view === "clusters" && state.look === "map") plan();
  });
  window.addEventListener("resize", plan);
}
