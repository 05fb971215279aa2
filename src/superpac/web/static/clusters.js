// Clusters as walls of small pictures, from the surest item to the least sure.

import { act, call, newKey } from "./api.js";
import { colour } from "./colours.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { openItem } from "./item.js";
import { say } from "./messages.js";
import { thumb } from "./pictures.js";
import { pictured, session, state } from "./state.js";

/** @typedef {{ item: number, certain: boolean, sure: number }} Entry */

/**
 * @typedef {object} Cluster
 * @property {number} cluster
 * @property {string} name
 * @property {number} size
 * @property {number} certain
 * @property {Entry[]} items the surest and the least sure ones
 */

/**
 * Reply of GET /api/clusters.
 *
 * @typedef {{ clusters: Cluster[], set_aside: number[], fresh: boolean }} Clusters
 */

const FIRST = 48; // items shown per cluster before one asks for more
const WHOLE = 1000;

/**
 * @param {Entry} entry
 * @returns {HTMLElement}
 */
function tile(entry) {
  const props = {
    type: "button",
    cls: `thumb${entry.certain ? " certain" : ""}`,
    title: entry.certain ? "certain" : `sure: ${Math.round(100 * entry.sure)} %`,
    "aria-label": pictured() ? `Item ${entry.item}${entry.certain ? ", certain" : ""}` : null, // words speak
    onclick: () => openItem(entry.item),
  };
  return make("button", props, thumb(entry.item));
}

/**
 * An empty wall; waveforms are drawn wider than photos, and words have tiles of their own.
 *
 * @returns {HTMLElement}
 */
function emptyWall() {
  const { kind, crisp } = session();
  const width = pictured() ? (kind === "image" ? "" : " wide") : " told";
  return make("div", { cls: `wall${width}${crisp ? " crisp" : ""}` });
}

/**
 * Wall of a cluster: the surest half and the least sure half, with a button between them for the rest.
 *
 * @param {Cluster} cluster
 * @returns {HTMLElement}
 */
function wall(cluster) {
  const box = emptyWall();
  const whole = async () => {
    /** @type {Entry[]} */
    const all = await call(`/api/clusters/${cluster.cluster}?limit=${WHOLE}`);
    box.replaceChildren(...all.map(tile));
  };
  const tiles = cluster.items.map(tile);
  const rest = cluster.size - tiles.length;
  if (rest > 0) {
    const more = button(`${rest.toLocaleString()} more, then the least sure`, whole, { cls: "quiet" });
    tiles.splice(Math.ceil(tiles.length / 2), 0, make("div", { cls: "gap" }, more));
  }
  box.replaceChildren(...tiles);
  return box;
}

/**
 * Field in which a cluster is named. The name is kept with an item, since clusters change their numbers.
 *
 * @param {Cluster} cluster
 * @returns {HTMLInputElement}
 */
function nameField(cluster) {
  const number = cluster.cluster + 1;
  const input = make("input", {
    value: cluster.name,
    placeholder: `Cluster ${number}`,
    maxlength: "80",
    "aria-label": `Name of cluster ${number}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  input.addEventListener("change", async () => {
    const name = input.value.trim();
    if (!name) return;
    try {
      const item = cluster.items[0].item;
      await act("/api/names", { annotator: state.annotator, key: newKey(), item, name });
      say(`Named ${input.value}.`);
    } catch (error) {
      complain(error);
    }
  });
  return input;
}

/**
 * @param {Cluster} cluster
 * @returns {HTMLElement}
 */
function section(cluster) {
  const counts = `${cluster.size.toLocaleString()} items, ${cluster.certain.toLocaleString()} certain`;
  const head = make(
    "div",
    { cls: "head" },
    make("span", { cls: "dot", colour: colour(cluster.cluster) }),
    nameField(cluster),
    make("span", { cls: "muted", text: counts }),
  );
  return make("div", { cls: "cluster" }, head, wall(cluster));
}

/**
 * Items that were set aside.
 *
 * @param {number[]} items
 * @returns {HTMLElement}
 */
function asideSection(items) {
  const box = emptyWall();
  box.append(...items.map((item) => tile({ item, certain: false, sure: 0 })));
  const head = make("div", { cls: "head" }, make("strong", { text: "Set aside" }));
  return make("div", { cls: "cluster" }, head, box);
}

/** Fetch the clusters and show them as walls. */
export async function showClusters() {
  try {
    /** @type {Clusters} */
    const found = await call(`/api/clusters?limit=${FIRST}`);
    const words = "Surest first; ✓ marks what answers have settled. Click one that looks wrong.";
    const late = found.fresh ? "" : " These follow your answers a moment ago.";
    byId("clusters-words").textContent = words + late;
    const sections = found.clusters.map(section);
    if (found.set_aside.length) sections.push(asideSection(found.set_aside));
    byId("walls").replaceChildren(...sections);
  } catch (error) {
    complain(error);
  }
}
