// Every event of the log, the newest first, each answer with a button that takes it back.

import { showAgreement } from "./agreement.js";
import { call } from "./api.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { say } from "./messages.js";
import { thumb } from "./pictures.js";
import { crispness } from "./state.js";
import { showSuspects } from "./suspects.js";
import { takeBack } from "./takeback.js";

/**
 * @typedef {object} HistoryEvent
 * @property {number} seq
 * @property {string} kind
 * @property {string | null} act of which it is a part: one that moved items or the like
 * @property {number} count of entries that the act wrote
 * @property {number[]} items
 * @property {string[]} ids
 * @property {string | null} answer
 * @property {number | null} of the event that this one is about
 * @property {string | null} name
 * @property {string | null} expected what the clusters said at the time
 * @property {string} annotator
 * @property {string} at
 * @property {number | null} elapsed_ms
 * @property {boolean} taken_back
 * @property {boolean} undoable
 */

const PER_PAGE = 60;

/** @type {Record<string, string>} */
const KINDS = {
  withdrawn: "opinion taken back",
  tested: "test pair",
  retract: "taken back",
  restore: "put back",
  skip: "skipped",
  bad: "set aside",
  good: "put back in",
  name: "named",
  items: "items added",
  stop: "stopped",
  note: "note",
};

/** @type {Record<string, string>} */
const ACTS = {
  move: "moved to another group",
  merge: "merged groups",
  split: "made a new group",
  join: "said to be one",
  exclude: "said not to belong to the group",
  aside: "set aside",
  back: "put back in",
  keep: "kept",
};

/** @type {number | null} */
let oldest = null; // number of the last event in the list
/** @type {number | null} */
let shown = null; // number of the event that the list ends before
/** @type {(number | null)[]} */
const pages = []; // the same of the newer pages

/**
 * What stands in small letters beside an event.
 *
 * @param {HistoryEvent} event
 * @returns {string}
 */
function facts(event) {
  const about = ["retract", "restore", "withdrawn"].includes(event.kind) && event.of;
  const surprise = event.expected && event.answer !== "unsure" && event.expected !== event.answer;
  return [
    event.kind === "second" ? `second opinion on #${event.of}` : null,
    about ? `#${event.of}` : null,
    event.name,
    event.count > 1 ? `${event.count.toLocaleString()} entries` : null,
    event.ids.join(" – "),
    event.annotator,
    new Date(event.at).toLocaleString(),
    event.elapsed_ms === null ? null : `${(event.elapsed_ms / 1000).toFixed(1)} s`,
    surprise ? `the clusters said ${event.expected}` : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

/**
 * @param {HistoryEvent} event
 * @returns {HTMLElement}
 */
function line(event) {
  const opinion = event.kind === "answer" || event.kind === "second";
  const said = opinion ? event.answer : KINDS[event.kind] || event.kind;
  const words = event.act ? ACTS[event.act] || event.act : said;
  const label = `Take back #${event.seq}`;
  return make(
    "div",
    { cls: `event${event.taken_back ? " gone" : ""}` },
    make("span", { cls: "num", text: `#${event.seq}` }),
    make("span", { cls: `pics ${crispness()}`.trim() }, ...event.items.slice(0, 2).map((item) => thumb(item))),
    make(
      "span",
      {},
      make("span", { cls: `said ${(event.act ? "" : event.answer) || ""}`, text: words }),
      make("small", { text: facts(event) }),
    ),
    event.undoable ? button("Take back", () => takeBack(event.seq), { "aria-label": label }) : null,
  );
}

/**
 * Show one page of events instead of the one before.
 *
 * @param {number | null} before number of the event that the page ends before; the newest page without
 */
async function showPage(before) {
  /** @type {{ events: HistoryEvent[], more: boolean, total: number }} */
  const found = await call(`/api/history?limit=${PER_PAGE}${before === null ? "" : `&before=${before}`}`);
  const last = found.events.at(-1);
  oldest = last?.seq ?? null;
  byId("older").hidden = !found.more;
  byId("newer").hidden = pages.length === 0;
  const nothing = make("p", { cls: "muted", text: "Nothing yet." });
  byId("events").replaceChildren(...(found.events.length ? found.events.map(line) : [nothing]));
  const range = last ? `#${found.events[0].seq} to #${last.seq} of ${found.total.toLocaleString()}` : "";
  byId("events-range").textContent = range;
}

/** Show the newest events, and above them what is worth a check. */
export async function showHistory() {
  pages.length = 0;
  shown = null;
  try {
    await showPage(null);
    await Promise.all([showSuspects(), showAgreement()]);
  } catch (error) {
    complain(error);
  }
}

/**
 * Turn a page, and go to where it begins.
 *
 * @param {number | null} before
 */
async function turnTo(before) {
  try {
    await showPage(before);
    byId("events-range").scrollIntoView({ block: "center" });
    say(byId("events-range").textContent ?? "");
  } catch (error) {
    complain(error);
  }
}

/** Show the events before those in the list. */
export async function showOlder() {
  pages.push(shown);
  shown = oldest;
  await turnTo(shown);
}

/** Show the events after those in the list. */
export async function showNewer() {
  shown = pages.pop() ?? null;
  await turnTo(shown);
}
