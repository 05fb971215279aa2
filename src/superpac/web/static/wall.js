// One group's wall of thumbnails. Only what is in sight is in the document, and pages of it are fetched as one scrolls,
// so that a group of 100,000 items is as light as one of 50.

import { call } from "./api.js";
import { make } from "./dom.js";
import { complain } from "./errors.js";
import { thumb } from "./pictures.js";
import { isSelected, select, toggle } from "./selection.js";
import { pictured, session } from "./state.js";

/** @typedef {{ item: number, id: string, certain: boolean, sure: number }} Entry */

const PER_PAGE = 200; // entries fetched at once
const GAP = 6; // pixels between tiles
const BEYOND = 500; // pixels above and below the window for which tiles are kept

/** @type {Set<Wall>} */
const walls = new Set();
let size = 72; // pixels of a tile
let planned = false;

/** Width and height of a tile; waveforms are wider than photos, and words need room. */
function tileSize() {
  if (!pictured()) return { width: Math.max(200, 2.4 * size), height: 84 };
  return { width: session().kind === "image" ? size : 1.8 * size, height: size };
}

export class Wall {
  /**
   * @param {object} facts
   * @param {number} facts.cluster number from 0, -1 for what is set aside
   * @param {number} facts.size
   * @param {string} facts.label what the wall is called
   * @param {Entry[]} facts.items those that are known already
   * @param {string} facts.order
   * @param {string} facts.version pages of one version fit together
   * @param {() => void} facts.outdated called when the groups have changed since
   * @param {(item: number) => void} facts.open
   */
  constructor({ cluster, size: count, label, items, order, version, outdated, open }) {
    this.cluster = cluster;
    this.count = count;
    this.order = order;
    this.version = version;
    this.outdated = outdated;
    this.open = open;
    /** @type {Map<number, Entry>} */
    this.entries = new Map(items.map((entry, n) => [n, entry]));
    /** @type {Set<number>} */
    this.asked = new Set();
    /** @type {Map<number, HTMLElement>} */
    this.tiles = new Map();
    this.columns = 1;
    this.focus = 0; // the one tile that Tab reaches
    this.anchor = 0; // where a range begins
    const kind = pictured() ? "" : " told";
    this.box = make("div", {
      cls: `wall${kind}${session().crisp ? " crisp" : ""}`,
      role: "listbox",
      "aria-multiselectable": "true",
      "aria-label": label,
    });
    this.box.addEventListener("click", (event) => this.clicked(event));
    this.box.addEventListener("dblclick", (event) => this.opened(event));
    this.box.addEventListener("keydown", (event) => this.pressed(event));
    walls.add(this);
  }

  /** Give the wall the height that all its tiles need. */
  measure() {
    const { width, height } = tileSize();
    const room = this.box.clientWidth;
    if (!room) return;
    this.columns = Math.max(1, Math.floor((room + GAP) / (width + GAP)));
    this.step = (room + GAP) / this.columns;
    // tiles fill the row; those of pictures stay square, or the pictures would be cut
    this.row = session().kind === "image" ? this.step : height + GAP;
    this.box.style.height = `${Math.ceil(this.count / this.columns) * this.row - GAP}px`;
    for (const [n, tile] of this.tiles) this.put(n, tile);
  }

  /**
   * @param {number} n
   * @param {HTMLElement} tile
   */
  put(n, tile) {
    tile.style.left = `${(n % this.columns) * (this.step ?? 0)}px`;
    tile.style.top = `${Math.floor(n / this.columns) * (this.row ?? 0)}px`;
    tile.style.width = `${(this.step ?? 0) - GAP}px`;
    tile.style.height = `${(this.row ?? 0) - GAP}px`;
  }

  /** Make the tiles that are in sight, and let those go that are not. */
  draw() {
    const place = this.box.getBoundingClientRect();
    if (!this.row || !place.width) return;
    const from = Math.max(0, Math.floor((-BEYOND - place.top) / this.row) * this.columns);
    const rows = Math.ceil((window.innerHeight + BEYOND - place.top) / this.row);
    const to = Math.min(this.count, Math.max(0, rows) * this.columns);
    for (const [n, tile] of this.tiles) {
      if ((n < from || n >= to) && n !== this.focus) {
        tile.remove();
        this.tiles.delete(n);
      }
    }
    for (let n = from; n < to; n += 1) {
      if (!this.tiles.has(n)) this.add(n);
      if (!this.entries.has(n)) this.fetch(n);
    }
    // a wall out of sight keeps its one tab stop
    if (from < to && !this.tiles.has(this.focus)) this.add(this.focus);
  }

  /** @param {number} n */
  add(n) {
    const tile = make("div", { cls: "thumb", role: "option", "data-n": n });
    this.tiles.set(n, tile);
    this.fill(n);
    this.put(n, tile);
    // in the order of the wall, for those who hear it
    const after = [...this.tiles.keys()].filter((other) => other > n).sort((a, b) => a - b)[0];
    this.box.insertBefore(tile, after === undefined ? null : (this.tiles.get(after) ?? null));
  }

  /** @param {number} n */
  fill(n) {
    const tile = this.tiles.get(n);
    const entry = this.entries.get(n);
    if (!tile) return;
    tile.setAttribute("aria-posinset", String(n + 1));
    tile.setAttribute("aria-setsize", String(this.count));
    tile.tabIndex = n === this.focus ? 0 : -1;
    if (!entry) {
      tile.setAttribute("aria-label", "Loading");
      tile.setAttribute("aria-selected", "false");
      return;
    }
    if (tile.dataset.item !== String(entry.item)) {
      tile.dataset.item = String(entry.item);
      tile.replaceChildren(thumb(entry.item, { loading: "eager" }));
      tile.title = `${entry.id} · ${entry.certain ? "settled by answers" : `${Math.round(100 * entry.sure)} % sure`}`;
      tile.setAttribute("aria-label", `${entry.id}${entry.certain ? ", settled" : ""}`);
      tile.classList.toggle("certain", entry.certain);
    }
    tile.setAttribute("aria-selected", String(isSelected(entry.item)));
  }

  /** Mark what is selected now. */
  mark() {
    for (const n of this.tiles.keys()) this.fill(n);
  }

  /**
   * Fetch the page that an entry is on.
   *
   * @param {number} n
   */
  async fetch(n) {
    const offset = Math.floor(n / PER_PAGE) * PER_PAGE;
    if (this.asked.has(offset)) return;
    this.asked.add(offset);
    try {
      const query = `offset=${offset}&limit=${PER_PAGE}&order=${this.order}`;
      /** @type {{ items: Entry[], version: string }} */
      const found = await call(`/api/clusters/${this.cluster}?${query}`);
      if (found.version !== this.version) {
        this.outdated();
        return;
      }
      found.items.forEach((entry, k) => this.entries.set(offset + k, entry));
      for (let k = 0; k < found.items.length; k += 1) this.fill(offset + k);
    } catch (error) {
      this.asked.delete(offset);
      complain(error);
    }
  }

  /**
   * Items of a range, fetched where they are not known yet.
   *
   * @param {number} a
   * @param {number} b
   * @returns {Promise<number[]>}
   */
  async range(a, b) {
    const [from, to] = a < b ? [a, b] : [b, a];
    const waiting = [];
    for (let n = from; n <= to; n += 1) if (!this.entries.has(n)) waiting.push(n);
    const pages = new Set(waiting.map((n) => Math.floor(n / PER_PAGE) * PER_PAGE));
    for (const page of pages) this.asked.delete(page);
    await Promise.all([...pages].map((page) => this.fetch(page)));
    const found = [];
    for (let n = from; n <= to; n += 1) {
      const entry = this.entries.get(n);
      if (entry) found.push(entry.item);
    }
    return found;
  }

  /** All items of the wall. */
  all() {
    return this.range(0, this.count - 1);
  }

  /**
   * @param {Event} event
   * @returns {number | null}
   */
  at(event) {
    const target = event.target;
    const tile = target instanceof Element ? target.closest("[data-n]") : null;
    return tile ? Number(tile.getAttribute("data-n")) : null;
  }

  /** @param {MouseEvent} event */
  async clicked(event) {
    const n = this.at(event);
    const entry = n === null ? undefined : this.entries.get(n);
    if (n === null || !entry) return;
    this.setFocus(n);
    if (event.shiftKey) {
      select(await this.range(this.anchor, n));
    } else {
      this.anchor = n;
      toggle(entry.item);
    }
  }

  /** @param {MouseEvent} event */
  opened(event) {
    const n = this.at(event);
    const entry = n === null ? undefined : this.entries.get(n);
    if (entry) this.open(entry.item);
  }

  /**
   * Let Tab come to this tile, and the focus go to it.
   *
   * @param {number} n
   */
  setFocus(n) {
    const before = this.tiles.get(this.focus);
    if (before) before.tabIndex = -1;
    this.focus = Math.max(0, Math.min(this.count - 1, n));
    if (!this.tiles.has(this.focus)) this.add(this.focus);
    if (!this.entries.has(this.focus)) this.fetch(this.focus);
    const tile = this.tiles.get(this.focus);
    if (!tile) return;
    tile.tabIndex = 0;
    tile.focus({ preventScroll: true });
    tile.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  async pressed(event) {
    const { columns, focus } = this;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowRight: focus + 1,
      ArrowLeft: focus - 1,
      ArrowDown: focus + columns,
      ArrowUp: focus - columns,
      PageDown: focus + 5 * columns,
      PageUp: focus - 5 * columns,
      Home: 0,
      End: this.count - 1,
    };
    const entry = this.entries.get(focus);
    if (event.key in steps) {
      event.preventDefault();
      this.setFocus(steps[event.key]);
      if (event.shiftKey) select(await this.range(this.anchor, this.focus));
      else this.anchor = this.focus;
    } else if (event.key === " " && entry) {
      event.preventDefault();
      toggle(entry.item);
    } else if (event.key === "Enter" && entry) {
      event.preventDefault();
      this.open(entry.item);
    } else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      select(await this.all());
    }
  }

  /** Items whose tiles touch a rectangle of the window. */
  touching(/** @type {DOMRect} */ band) {
    const found = [];
    for (const [n, tile] of this.tiles) {
      const entry = this.entries.get(n);
      const box = tile.getBoundingClientRect();
      const apart = box.right < band.left || box.left > band.right || box.bottom < band.top || box.top > band.bottom;
      if (entry && !apart) found.push(entry.item);
    }
    return found;
  }
}

/** Forget all walls. */
export function clearWalls() {
  walls.clear();
}

/** @returns {Wall[]} */
export function allWalls() {
  return [...walls];
}

/** @param {number} pixels of a tile */
export function setTileSize(pixels) {
  size = pixels;
  measureWalls();
}

/** Measure all walls anew and draw what is in sight. */
export function measureWalls() {
  for (const wall of walls) wall.measure();
  drawWalls();
}

/** Draw what is in sight, once per frame. */
export function drawWalls() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(() => {
    planned = false;
    for (const wall of walls) wall.draw();
  });
}

/** Let walls follow the window and the selection. */
export function listenToWalls() {
  document.addEventListener("scroll", drawWalls, { passive: true });
  window.addEventListener("resize", measureWalls);
}

/** Mark what is selected on all walls. */
export function markWalls() {
  for (const wall of walls) wall.mark();
}
