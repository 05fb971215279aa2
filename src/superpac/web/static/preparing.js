// Getting ready for the first question: the stages, how far each is, cancelling and starting again.

import { call, sleep } from "./api.js";
import { byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { state } from "./state.js";
import { enter, route } from "./views.js";

/** @typedef {import("./state.js").SessionInfo} SessionInfo */

/** @type {[string, string][]} */
const STAGES = [
  ["affinity", "Finding which items resemble each other"],
  ["count", "Counting clusters"],
  ["clustering", "First clustering"],
  ["map", "Drawing the map"],
  ["answers", "Going through the answers"],
  ["model", "Working out the groups"],
  ["sureness", "How sure each item is"],
];
const SELDOM = ["answers"]; // named only while it goes on
const LOOK_MS = 250;
const GUESS_MS = 2000; // no time is told before a stage has gone on for so long
const LOST_MS = 2000;

/**
 * @param {SessionInfo} info
 * @returns {boolean}
 */
function stopped(info) {
  return info.phase === "cancelled" || info.phase === "failed";
}

// When the stage that goes on began and last moved, and how far it was then.
const pace = { stage: "", from: 0, began: 0, done: 0, moved: 0 };

/**
 * Seconds that are left of a stage if it goes on as it has; null where that is not known yet.
 *
 * @param {SessionInfo} info
 * @param {number} now - milliseconds
 * @returns {number | null}
 */
function secondsLeft(info, now) {
  if (info.stage !== pace.stage || info.done < pace.done) {
    Object.assign(pace, { stage: info.stage, from: info.done, began: now, moved: now });
  } else if (info.done > pace.done) pace.moved = now;
  pace.done = info.done;
  const took = pace.moved - pace.began;
  if (took < GUESS_MS || pace.done === pace.from) return null;
  const left = (took * (info.total - pace.done)) / (pace.done - pace.from);
  return Math.max(0, left - (now - pace.moved)) / 1000;
}

/**
 * @param {number | null} seconds
 * @returns {string}
 */
function inWords(seconds) {
  if (seconds === null) return "";
  if (seconds < 5) return ": a few seconds left";
  if (seconds < 55) return `: about ${5 * Math.round(seconds / 5)} seconds left`;
  const minutes = Math.max(1, Math.round(seconds / 60));
  return `: about ${minutes} ${minutes === 1 ? "minute" : "minutes"} left`;
}

/** @param {SessionInfo} info */
function drawStages(info) {
  const now = STAGES.findIndex(([name]) => name === info.stage);
  const left = inWords(secondsLeft(info, performance.now()));
  const lines = STAGES.flatMap(([name, words], n) => {
    const current = n === now && !stopped(info);
    if (SELDOM.includes(name) && !current) return [];
    const text = current ? words + left : words;
    return [make("li", { cls: n < now ? "over" : current ? "now" : "", text })];
  });
  byId("stages").replaceChildren(...lines);
}

/** @param {SessionInfo} info */
function drawBar(info) {
  const bar = byId("bar", HTMLProgressElement);
  bar.hidden = stopped(info);
  if (info.total > 0) bar.value = info.done / info.total;
  else bar.removeAttribute("value"); // a stage that has not told yet
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
  byId("cancel").hidden = info.phase === "ready"; // the first question is as good as there
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
