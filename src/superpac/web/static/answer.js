// What the person does with a question: answer, choose, skip, undo, redo, set aside.

import { stopLookingAhead } from "./ahead.js";
import { act, newKey } from "./api.js";
import { askWhichIsBad } from "./bad.js";
import { byId, make } from "./dom.js";
import { complain, Refused } from "./errors.js";
import { marking, marks, markSeveral, toggleMark } from "./marks.js";
import { banner, hideBanner, say } from "./messages.js";
import { ask, markBusy, show } from "./question.js";
import { busy, ofSeveral, state } from "./state.js";
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
 * @param {{ said?: Answer, told?: string }} [more] what was said colours the cards until the next question comes; what
 *     is told stands in the banner once it is done, with a button that undoes it
 */
async function send(path, body, { said, told } = {}) {
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
    if (told) banner(told, { calm: true, buttons: [make("button", { text: "Undo", "data-act": "undo" })] });
    await show(found, since);
    if (told) say(`${told} ${byId("live").textContent}`);
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
  if (!question || ofSeveral(question)) return;
  const { item, others, seq } = question;
  send("/api/answers", { i: item.item, j: others[0].item, answer: said, seq, elapsed_ms: elapsed() }, { said });
}

/**
 * Choose one of a strip, which is sent at once unless several are being marked; mark one of a wall or a board.
 *
 * @param {number | null} n place from 0; null for none of them
 */
export function choose(n) {
  const question = open();
  if (!question || !ofSeveral(question) || (n !== null && n >= question.others.length)) return;
  if (n !== null && marking()) toggleMark(n);
  else if (question.shape === "strip") sendMarks(question, n === null ? [] : [n]);
}

/** Let several be marked before they are sent. */
export function several() {
  if (open()?.shape === "strip") markSeveral();
}

/** Send what is marked; on a wall and a board also where nothing is. */
export function confirm() {
  const question = open();
  if (!question || !ofSeveral(question) || (question.shape === "strip" && !marks().length)) return;
  sendMarks(question, marks());
}

/**
 * @param {Question} question
 * @param {number[]} places that are marked, from 0
 */
function sendMarks(question, places) {
  const options = question.others.map((card) => card.item);
  const marked = places.map((n) => options[n]);
  const { item, shape: form, seq } = question;
  send("/api/choices", { item: item.item, form, options, marked, seq, elapsed_ms: elapsed() });
}

/** Postpone the question. */
export function skip() {
  const question = open();
  if (!question) return;
  send("/api/skips", { i: question.item.item, j: question.others[0].item, seq: question.seq });
}

/** Set one of the items aside as blank or damaged. */
export function bad() {
  if (!open()) return;
  askWhichIsBad(({ item, id }) => {
    send("/api/aside", { item }, { told: `${id} is set aside: nothing is asked about it any more.` });
  });
}

/** Take back one's last act. */
export function undo() {
  if (!busy()) send("/api/undo", {});
}

/** Put back what one undid last. */
export function redo() {
  if (!busy()) send("/api/redo", {});
}
