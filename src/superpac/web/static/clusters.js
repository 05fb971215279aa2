// Clusters as a workbench: a head and a wall of thumbnails for each, which one selects, moves, merges and names.

import { call } from "./api.js";
import { mergeDialog, offerGroups, offerMerge } from "./arrange.js";
import { colour } from "./colours.js";
import { nameGroup } from "./context.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { openItem } from "./item.js";
import { select } from "./selection.js";
import { state } from "./state.js";
import { recall, remember } from "./storage.js";
import { allWalls, clearWalls, measureWalls, setTileSize, Wall } from "./wall.js";

/** @typedef {import("./wall.js").Entry} Entry */

/**
 * @typedef {object} Cluster
 * @property {number} cluster from 0
 * @property {number} number from 1, as everywhere people see it
 * @property {string} name
 * @property {number} size
 * @property {number} certain
 * @property {number} first one of its items, which stands for it
 * @property {Entry[]} items the first of its wall
 */

/**
 * Reply of GET /api/clusters.
 *
 * @typedef {object} Clusters
 * @property {Cluster[]} clusters
 * @property {number} aside how many items were set aside
 * @property {boolean} fresh
 * @property {string} version
 */

const FIRST = 40; // items per cluster that come along with the heads
const AGAIN_MS = 1500; // after which clusters that follow older answers are looked at again

let order = "sure";
let later = 0;

/** @type {Cluster[]} */
let shown = [];

/**
 * What a group is called.
 *
 * @param {{ name: string, number: number }} cluster
 * @returns {string}
 */
function title(cluster) {
  return cluster.name || `Cluster ${cluster.number}`;
}

/**
 * A group as one chooses it for a move or a merge.
 *
 * @param {Cluster} cluster
 * @returns {import("./arrange.js").Choice}
 */
function choice(cluster) {
  return { title: title(cluster), item: cluster.first, cluster: cluster.cluster };
}

/**
 * Field in which a cluster is named. The name is kept with an item, since clusters change their numbers.
 *
 * @param {Cluster} cluster
 * @returns {HTMLInputElement}
 */
function nameField(cluster) {
  const input = make("input", {
    value: cluster.name,
    placeholder: `Cluster ${cluster.number}`,
    maxlength: "80",
    "aria-label": `Name of cluster ${cluster.number}`,
    autocomplete: "off",
    spellcheck: "false",
    list: "group-names",
  });
  input.addEventListener("change", async () => {
    try {
      await nameGroup(cluster.first, input.value.trim());
      cluster.name = input.value.trim();
      offerGroups(shown.map(choice)); // at once, or moving to this name would make a second group of it
      const heading = input.closest(".head")?.querySelector("h2");
      if (heading) heading.textContent = title(cluster);
      if (cluster.name) offerMerge(choice(cluster));
    } catch (error) {
      complain(error);
    }
  });
  return input;
}

/**
 * @param {Cluster} cluster
 * @param {string} version
 * @returns {HTMLElement}
 */
function section(cluster, version) {
  const counts = `${cluster.size.toLocaleString()} items, ${cluster.certain.toLocaleString()} settled`;
  const label = title(cluster);
  const wall = wallOf({ ...cluster, label: `${label}, ${counts}` }, version);
  const all = async () => select(await wall.all());
  const head = make(
    "div",
    { cls: "head", "data-first": cluster.first },
    make("span", { cls: "dot", colour: colour(cluster.cluster) }),
    make("h2", { cls: "hidden", text: label }),
    nameField(cluster),
    make("span", { cls: "muted", text: counts }),
    button("Select all", all, { cls: "quiet", "aria-label": `Select all of ${label}` }),
    button("Merge into…", () => mergeDialog(choice(cluster)), { cls: "quiet", "aria-label": `${label}: Merge into…` }),
  );
  return make("div", { cls: "cluster", "data-cluster": cluster.cluster }, head, wall.box);
}

/**
 * @param {{ cluster: number, size: number, label: string, items: Entry[] }} facts
 * @param {string} version
 * @returns {Wall}
 */
function wallOf(facts, version) {
  return new Wall({ ...facts, order, version, outdated: showClusters, open: openItem });
}

/**
 * Items that were set aside.
 *
 * @param {number} count
 * @param {string} version
 * @returns {HTMLElement}
 */
function asideSection(count, version) {
  const wall = wallOf({ cluster: -1, size: count, label: "Set aside", items: [] }, version);
  const all = async () => select(await wall.all());
  const head = make(
    "div",
    { cls: "head" },
    make("h2", { text: "Set aside" }),
    make("span", { cls: "muted", text: `${count.toLocaleString()} items` }),
    button("Select all", all, { cls: "quiet", "aria-label": "Select all that were set aside" }),
  );
  return make("div", { cls: "cluster aside" }, head, wall.box);
}

/**
 * Which tile has the focus, to give it back after all is drawn anew.
 *
 * @returns {{ first: string, n: number } | null}
 */
function focused() {
  const tile = document.activeElement?.closest(".thumb");
  const first = tile?.closest(".cluster")?.querySelector("[data-first]")?.getAttribute("data-first");
  return tile && first ? { first, n: Number(tile.getAttribute("data-n")) } : null;
}

/** @param {{ first: string, n: number } | null} was */
function refocus(was) {
  if (!was) return;
  const heads = [...document.querySelectorAll("[data-first]")];
  const place = heads.findIndex((head) => head.getAttribute("data-first") === was.first);
  const wall = allWalls()[Math.max(place, 0)];
  wall?.setFocus(was.n);
}

/** Fetch the clusters and show them as walls. */
export async function showClusters() {
  clearTimeout(later);
  try {
    /** @type {Clusters} */
    const found = await call(`/api/clusters?limit=${FIRST}&order=${order}`);
    if (state.view !== "clusters" || state.look !== "walls") return;
    const first = order === "sure" ? "Surest first" : "Least sure first";
    const words = `${first}; ✓ marks what answers tie to its group. Click to select, double-click to look closer.`;
    const late = found.fresh ? "" : " These follow your answers a moment ago.";
    byId("clusters-words").textContent = words + late;
    shown = found.clusters;
    offerGroups(shown.map(choice));
    const was = focused();
    const top = window.scrollY;
    clearWalls();
    const sections = found.clusters.map((cluster) => section(cluster, found.version));
    if (found.aside) sections.push(asideSection(found.aside, found.version));
    byId("walls").replaceChildren(...sections);
    measureWalls();
    window.scrollTo({ top });
    refocus(was);
    if (!found.fresh) later = window.setTimeout(lookAgain, AGAIN_MS);
  } catch (error) {
    complain(error);
  }
}

/** Look again for clusters that follow all answers, unless somebody is typing a name. */
function lookAgain() {
  if (state.view !== "clusters" || state.look !== "walls") return;
  if (document.activeElement instanceof HTMLInputElement) later = window.setTimeout(lookAgain, AGAIN_MS);
  else showClusters();
}

/** Let the slider and the order work. */
export function listenToClusters() {
  const slider = byId("tile-size", HTMLInputElement);
  slider.value = recall("tile") || slider.value;
  setTileSize(Number(slider.value));
  slider.addEventListener("input", () => {
    setTileSize(Number(slider.value));
    remember("tile", slider.value);
  });
  byId("least-sure").addEventListener("change", () => {
    order = byId("least-sure", HTMLInputElement).checked ? "unsure" : "sure";
    showClusters();
  });
}
