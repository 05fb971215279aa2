// Which part of the page is seen: the address after # names it, once the session can be used.

import { byId } from "./dom.js";
import { hideBanner } from "./messages.js";
import { state } from "./state.js";

/** @typedef {import("./state.js").View} View */

/** @type {View[]} */
const VIEWS = ["ask", "clusters", "review", "history", "export"];
const SECTIONS = ["preparing", "done", ...VIEWS];

/** @type {Map<View, () => unknown>} */
const loaders = new Map();

/**
 * Say how the content of a view is fetched.
 *
 * @param {View} view
 * @param {() => unknown} load
 */
export function onEnter(view, load) {
  loaders.set(view, load);
}

/** Show the section that the address names and hide the others; fetches nothing. */
export function route() {
  const wanted = location.hash.slice(1);
  const view = VIEWS.find((name) => name === wanted) ?? "ask";
  const asked = view === "ask" && (state.finished || state.pausing) ? "done" : view;
  const shown = state.info?.usable ? asked : "preparing";
  for (const id of SECTIONS) byId(id).hidden = id !== shown;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("data-view") === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  state.view = view;
}

/** Fetch the content of the view that is seen. */
export function refresh() {
  loaders.get(state.view)?.();
}

/** Come to the view that the address names. */
export function enter() {
  hideBanner();
  route();
  if (state.info?.usable) refresh();
}
