// Every event of the log, the newest first, each answer with a button that takes it back.

import { showAgreement } from "./agreement.js";
import { call } from "./api.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { thumb } from "./pictures.js";
import { crispness } from "./state.js";
import { showSuspects } from "./suspects.js";
import { takeBack } from "./takeback.js";

/**
 * @typedef {object} HistoryEvent
 * @property {number} seq
 * @property {string} kind
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

/** @type {number | null} */
let oldest = null; // number of the last event in the list

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
  const words = opinion ? event.answer : KINDS[event.kind] || event.kind;
  const label = `Take back #${event.seq}`;
  return make(
    "div",
    { cls: `event${event.taken_back ? " gone" : ""}` },
    make("span", { cls: "num", text: `#${event.seq}` }),
    make("span", { cls: `pics ${crispness()}`.trim() }, ...event.items.slice(0, 2).map((item) => thumb(item))),
    make(
      "span",
      {},
      make("span", { cls: `said ${event.answer || ""}`, text: words }),
      make("small", { text: facts(event) }),
    ),
    event.undoable ? button("Take back", () => takeBack(event.seq), { "aria-label": label }) : null,
  );
}

/**
 * @param {string} query
 * @returns {Promise<HTMLElement[]>}
 */
async function fetchLines(query) {
  /** @type {{ events: HistoryEvent[], more: boolean }} */
  const found = await call(`/api/history?limit=${PER_PAGE}${query}`);
  oldest = found.events.at(-1)?.seq ?? null;
  byId("older").hidden = !found.more;
  return found.events.map(line);
}

/** Show the newest events, and above them what is worth a check. */
export async function showHistory() {
  try {
    const lines = await fetchLines("");
    const nothing = make("p", { cls: "muted", text: "Nothing yet." });
    byId("events").replaceChildren(...(lines.length ? lines : [nothing]));
    await Promise.all([showSuspects(), showAgreement()]);
  } catch (error) {
    complain(error);
  }
}

/** Add the events before those in the list. */
export async function showOlder() {
  try {
    byId("events").append(...(await fetchLines(oldest ? `&before=${oldest}` : "")));
  } catch (error) {
    complain(error);
  }
}
