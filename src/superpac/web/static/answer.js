// What the person does with a question: answer, choose, skip, undo, redo, set aside.

import { stopLookingAhead } from "./ahead.js";
import { act, newKey } from "./api.js";
import { byId } from "./dom.js";
import { complain, Refused } from "./errors.js";
import { banner, hideBanner } from "./messages.js";
import { ask, markBusy, show } from "./question.js";
import { busy, state } from "./state.js";
import { closeZoom } from "./zoom.js";

/** @typedef {import("./state.js").Answer} Answer */
/** @typedef {import("./state.js").Question} Question */

const GUARD_MS = 120; // nobody recognises two pictures faster: a second press is a slip
const DAY_MS = 86_400_000;

/**
 * The question, if an answer can be taken now.
 *
 * @returns {Question | null}
 */
function open() {
  const free = state.view === "ask" && !busy() && performance.now() - state.shownAt > GUARD_MS;
  return free ? state.question : null;
}

/**
 * Milliseconds since the question was shown.
 *
 * @returns {number}
 */
function elapsed() {
  return Math.min(Math.round(performance.now() - state.shownAt), DAY_MS);
}

/** @param {boolean} sending */
function setSending(sending) {
  state.sending = sending;
  markBusy();
}

/**
 * Send an act and show what comes next.
 *
 * @param {string} path
 * @param {object} body
 * @param {Answer} [said] colours the cards until the next question comes
 */
async function send(path, body, said) {
  const since = performance.now();
  stopLookingAhead();
  setSending(true);
  const stage = byId("stage");
  if (said) stage.classList.add(`said-${said}`);
  closeZoom();
  try {
    const { annotator, shape } = state;
    const found = await act(path, { annotator, key: newKey(), shape, ...body });
    hideBanner();
    if (found.message) banner(found.message, { calm: true });
    await show(found, since);
  } catch (error) {
    stage.classList.remove("said-same", "said-different");
    await recover(error);
  } finally {
    setSending(false);
  }
}

/**
 * Go on after a refusal. An answer that came too late is refused with the question that is current.
 *
 * @param {unknown} error
 */
async function recover(error) {
  const late = error instanceof Refused && error.status === 409 && !error.body.chain?.length;
  const { question = null, finished = false } = late ? error.body : {};
  if (question || finished) {
    banner("Answered elsewhere in the meantime; here is the current question.", { calm: true });
    await show({ question, finished });
    return;
  }
  complain(error);
  if (late) await ask(); // the current question is still being computed
}

/** @param {Answer} said */
export function answer(said) {
  const question = open();
  if (!question || question.shape === "strip") return;
  const { item, others, seq } = question;
  send("/api/answers", { i: item.item, j: others[0].item, answer: said, seq, elapsed_ms: elapsed() }, said);
}

/**
 * Choose from a strip.
 *
 * @param {number | null} n place in the strip from 0; null for none of them
 */
export function choose(n) {
  const question = open();
  if (!question || question.shape !== "strip" || (n !== null && n >= question.others.length)) return;
  const options = question.others.map((card) => card.item);
  const choice = n === null ? null : options[n];
  send("/api/choices", { item: question.item.item, options, choice, seq: question.seq, elapsed_ms: elapsed() });
}

/** Postpone the question. */
export function skip() {
  const question = open();
  if (!question) return;
  send("/api/skips", { i: question.item.item, j: question.others[0].item, seq: question.seq });
}

/** Set the item aside as blank or damaged. */
export function bad() {
  const question = open();
  if (question) send("/api/aside", { item: question.item.item });
}

/** Take back one's last act. */
export function undo() {
  if (!busy()) send("/api/undo", {});
}

/** Put back what one undid last. */
export function redo() {
  if (!busy()) send("/api/redo", {});
}
