// The question: two items side by side, or one beside several; and the wait for the next one.

import { lookAhead } from "./ahead.js";
import { call, sleep } from "./api.js";
import { drawBoard, spokenBoard } from "./board_question.js";
import { answerButton, keycap } from "./buttons.js";
import { figure, foot, shortened } from "./cards.js";
import { comparison, loadScales } from "./compare.js";
import { byId, make, press } from "./dom.js";
import { complain } from "./errors.js";
import { keepFocus } from "./focus.js";
import { banner, hideBanner, say } from "./messages.js";
import { preload } from "./pictures.js";
import { lookAtSession, prepare } from "./preparing.js";
import { showProgress } from "./progress.js";
import { hush } from "./sounds.js";
import { busy, crispness, ofSeveral, pictured, session, state } from "./state.js";
import { recall, remember } from "./storage.js";
import { drawStrip } from "./strip.js";
import { route } from "./views.js";
import { drawWall, spokenWall } from "./wall_question.js";

/** @typedef {import("./state.js").Question} Question */
/** @typedef {import("./state.js").Reply} Reply */
/** @typedef {import("./state.js").Shape} Shape */

const PICTURES_MS = 1500; // a question is shown by then even if its pictures are late
const AFTER_PAINT_MS = 30;
const THINK_MS = 250; // between two looks whether the next question is there
const REFUSED_MS = 2000; // the same after an error

let goingOn = false; // the person chose to go on although the goal is reached
let turn = 0; // counts what was shown, so that a wait that was overtaken ends

/** Show on the page whether it is busy. */
export function markBusy() {
  byId("ask").classList.toggle("busy", busy());
}

/** @param {Question} question */
function drawPair(question) {
  const [item, other] = [question.item, question.others[0]];
  const rows = session().kind === "table" && item.rows.length > 0;
  const apart = () => [figure(item, other), figure(other, item, "K")];
  byId("stage").replaceChildren(...(rows ? [comparison(item, other), foot(item), foot(other)] : apart()));
  byId("answers").replaceChildren(
    answerButton({ cls: "different", "data-answer": "different" }, keycap("←"), "Different"),
    answerButton({ cls: "unsure", "data-answer": "unsure" }, "Can’t tell", keycap("↓")),
    answerButton({ cls: "same", "data-answer": "same" }, "Same", keycap("→")),
  );
  byId("ask-title").textContent = inWords(question);
}

/**
 * What is asked of two items; a pair of the test before one's first answer says that it is one.
 *
 * @param {Question} question
 * @returns {string}
 */
function inWords({ shape, numbers }) {
  return shape === "test" ? `Test ${numbers.number} of ${numbers.of}: ${session().question}` : session().question;
}

/** @type {Record<string, (question: Question) => void>} */
const DRAWN = { strip: drawStrip, wall: drawWall, board: drawBoard };

/**
 * What a screen reader says of a question.
 *
 * @param {Question} question
 * @returns {string}
 */
function spoken(question) {
  const { shape, item, others } = question;
  const [one, other] = [item, others[0]].map((card) => shortened(card.text) || `item ${card.id}`);
  if (shape === "wall") return spokenWall(one, others.length);
  if (shape === "board") return spokenBoard(one, others.length);
  return shape === "strip" ? `${one}: which of ${others.length}?` : `${one} and ${other}: ${inWords(question)}`;
}

/** Put the waiting state on the stage, as high as what was there, so that the buttons below do not jump. */
function drawThinking() {
  const stage = byId("stage");
  hush(stage);
  stage.style.minHeight = `${stage.offsetHeight}px`;
  stage.className = "";
  const words = make("p", { cls: "thinking", role: "status", "aria-live": "polite" });
  stage.replaceChildren(words);
  setTimeout(() => (words.textContent ||= "Thinking…")); // a screen reader announces only what changes later
  byId("reason").textContent = "";
  // not disabled: that would take the focus away
  for (const one of byId("answers").querySelectorAll("button")) one.setAttribute("aria-disabled", "true");
}

/**
 * Say on the stage why nothing is computed any more, with what to do, or that it is again.
 *
 * @param {string} why empty while computing
 */
function drawStopped(why) {
  const words = byId("stage").querySelector(".thinking");
  const told = why || "Thinking…";
  if (!words || words.textContent === told) return;
  words.textContent = told;
  words.classList.toggle("stopped", Boolean(why));
  byId("stage").querySelector("[data-act=restart]")?.remove();
  if (why) words.after(answerButton({ cls: "primary", "data-act": "restart" }, "Start again"));
}

/** Have the computing begun anew after it had stopped. */
export async function restart() {
  try {
    state.info = await call("/api/again", {});
  } catch (error) {
    complain(error);
  }
}

/**
 * Note how long it took from the answer until the next question was painted.
 *
 * @param {number | undefined} since
 */
function measurePaint(since) {
  if (since === undefined) return;
  requestAnimationFrame(() => {
    // a message sent from within a frame arrives after that frame is painted
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      performance.measure("answer-to-paint", { start: since, end: performance.now() });
    };
    channel.port2.postMessage(0);
  });
}

/** @param {boolean} thinking */
function setThinking(thinking) {
  state.thinking = thinking;
  markBusy();
}

/**
 * Name under which the browser keeps that the person went on in this session after its goal was reached.
 *
 * @returns {string}
 */
function wentOn() {
  return `went-on.${session().id}`;
}

/** Ask on although the goal is reached; the page says so once. */
export function goOn() {
  goingOn = true;
  remember(wentOn(), "yes");
  state.pausing = false;
  ask();
  byId("main").focus({ preventScroll: true });
}

/** Show that nothing is left to ask, or that the goal is reached. */
function showFinished() {
  setThinking(false);
  route();
  showProgress();
}

/**
 * Show what a reply holds: a question, that nothing is left to ask, or that the next question is being computed.
 *
 * @param {Reply} reply
 * @param {number} [since] when the person answered
 */
export async function show({ question, finished, reached, stopped }, since) {
  const own = (turn += 1);
  state.finished = finished && !question;
  state.pausing = Boolean(reached && question) && !goingOn && recall(wentOn()) === null;
  if (state.pausing) {
    state.question = null; // no key may answer what is not seen
    showFinished();
    say("Finished: the goal is reached. You can go on or look at the clusters.");
    return;
  }
  if (!question) {
    state.question = null;
    if (finished) showFinished();
    else await think(since);
    return;
  }
  await loadScales();
  if (own !== turn) return;
  if (pictured()) {
    const items = [question.item, ...question.others].map((card) => card.item);
    await Promise.race([Promise.all(items.map(preload)), sleep(PICTURES_MS)]);
    if (own !== turn) return;
  }
  state.question = question; // not before it is seen: a key must never answer what is still to come
  setThinking(false);
  const stage = byId("stage");
  const several = ofSeveral(question) ? `strip ${question.shape}` : "";
  stage.className = `${crispness()} of-${session().kind} ${several}`;
  hush(stage);
  stage.style.minHeight = "";
  const draw = DRAWN[question.shape] ?? drawPair;
  keepFocus(byId("ask"), () => draw(question));
  byId("reason").textContent = question.reason;
  if (stopped) banner(stopped); // questions ranked before it stopped are left
  press("shape", state.shape);
  state.shownAt = performance.now();
  say(spoken(question));
  route();
  measurePaint(since);
  setTimeout(() => {
    if (state.question !== question) return;
    showProgress();
    lookAhead(question);
  }, AFTER_PAINT_MS);
}

/**
 * Wait until the server has the next question, and show it. The wait ends when the person leaves the view or something
 * else is shown; coming back to the view asks anew.
 *
 * @param {number} [since] when the person answered
 */
async function think(since) {
  const own = turn;
  const overtaken = () => own !== turn || state.view !== "ask";
  setThinking(true);
  route();
  keepFocus(byId("ask"), drawThinking);
  showProgress();
  let doubtful = true; // the server may have been started anew and be at its first clustering
  let told = false;
  try {
    for (;;) {
      await sleep(THINK_MS);
      if (overtaken()) return;
      try {
        if (doubtful && !(await lookAtSession()).usable) {
          setThinking(false);
          await prepare();
          return;
        }
        doubtful = false;
        /** @type {Reply} */
        const reply = await call("/api/question", { annotator: state.annotator, shape: state.shape });
        if (overtaken()) return;
        if (told) hideBanner();
        told = false;
        if (reply.question || reply.finished) {
          await show(reply, since);
          return;
        }
        drawStopped(reply.stopped ?? "");
      } catch (error) {
        if (overtaken()) return;
        complain(error);
        told = true;
        doubtful = true;
        await sleep(REFUSED_MS);
      }
    }
  } finally {
    if (own === turn) setThinking(false);
  }
}

/**
 * Take the next question.
 *
 * @param {{ was?: string }} [more] a name given up, so that its question is free again
 */
export async function ask(more = {}) {
  try {
    const wish = { annotator: state.annotator, shape: state.shape, ...more };
    await show(await call("/api/question", wish));
  } catch (error) {
    complain(error);
  }
}

/**
 * Take a question about an item.
 *
 * @param {number} item
 * @param {number} [other] what it is compared with
 */
export async function askAbout(item, other) {
  try {
    const shape = other === undefined ? state.shape : "pair";
    /** @type {Reply} */
    const reply = await call("/api/question", { annotator: state.annotator, shape, item, other });
    if (!reply.question) {
      const words = "Earlier answers leave nothing open about this item; take one back to ask again.";
      banner(words, { calm: true });
      return;
    }
    location.hash = "#ask";
    state.view = "ask";
    await show(reply);
  } catch (error) {
    complain(error);
  }
}

/**
 * Ask in another shape from now on.
 *
 * @param {Shape} shape
 */
export function setShape(shape) {
  if (busy() || state.shape === shape) return;
  state.shape = shape;
  remember("shape", shape);
  if (state.view === "ask") ask();
}
