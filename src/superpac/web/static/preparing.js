// The first clustering: its stages, how far it is, cancelling it and starting it again.

import { call, sleep } from "./api.js";
import { byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { state } from "./state.js";
import { enter, route } from "./views.js";

/** @typedef {import("./state.js").SessionInfo} SessionInfo */

const STAGES = [
  ["affinity", "Finding which items resemble each other"],
  ["clustering", "First clustering"],
  ["map", "Drawing the map"],
];
const LOOK_MS = 250;
const LOST_MS = 2000;

/**
 * @param {SessionInfo} info
 * @returns {boolean}
 */
function stopped(info) {
  return info.phase === "cancelled" || info.phase === "failed";
}

/** @param {SessionInfo} info */
function drawStages(info) {
  const now = STAGES.findIndex(([name]) => name === info.stage);
  const over = info.phase === "ready" ? STAGES.length : now;
  const lines = STAGES.map(([, words], n) => {
    const current = n === now && info.phase === "preparing" ? "now" : "";
    return make("li", { cls: n < over ? "over" : current, text: words });
  });
  byId("stages").replaceChildren(...lines);
}

/** @param {SessionInfo} info */
function drawBar(info) {
  const bar = byId("bar", HTMLProgressElement);
  bar.hidden = stopped(info);
  if (info.total > 0 && info.stage === "affinity") bar.value = info.done / info.total;
  else bar.removeAttribute("value"); // how long the other stages take is not known
}

/** @param {SessionInfo} info */
function drawWords(info) {
  const { n_clusters: k, affinity } = info.spec;
  const clusters = k === "auto" ? "as many clusters as there are" : `${k} clusters`;
  byId("preparing-title").textContent = stopped(info) ? "Stopped" : "Getting ready";
  byId("preparing-words").textContent = stopped(info)
    ? info.message
    : `${info.items.toLocaleString()} items, ${clusters}, ${affinity}.`;
  byId("cancel").textContent = stopped(info) ? "Start again" : "Cancel";
}

/**
 * Look at the session.
 *
 * @returns {Promise<SessionInfo>}
 */
export async function lookAtSession() {
  /** @type {SessionInfo} */
  const info = await call("/api/session");
  state.info = info;
  return info;
}

/** Show how far the first clustering is until questions can be asked, then come to the view. */
export async function prepare() {
  for (;;) {
    try {
      const info = await lookAtSession();
      if (info.usable) break;
      route();
      drawStages(info);
      drawBar(info);
      drawWords(info);
      await sleep(LOOK_MS);
    } catch (error) {
      complain(error);
      await sleep(LOST_MS);
    }
  }
  enter();
}

/** Cancel the first clustering, or start it again after it was cancelled or failed. */
export async function cancelOrRestart() {
  const again = state.info !== null && stopped(state.info);
  try {
    state.info = await call(again ? "/api/again" : "/api/cancel", {});
  } catch (error) {
    complain(error);
  }
}
