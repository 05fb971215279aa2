// The keyboard: every act has a key.

import { answer, bad, choose, redo, skip, undo } from "./answer.js";
import { around, byId } from "./dom.js";
import { setShape } from "./question.js";
import { play, playOther } from "./sounds.js";
import { state } from "./state.js";
import { zoom } from "./zoom.js";

/** @type {Record<string, () => void>} */
const KEYS = {
  s: () => answer("same"),
  arrowright: () => answer("same"),
  d: () => answer("different"),
  arrowleft: () => answer("different"),
  u: () => answer("unsure"),
  arrowdown: () => (state.question?.shape === "strip" ? skip() : answer("unsure")),
  " ": skip,
  backspace: undo,
  z: zoom,
  b: bad,
  j: () => play(0),
  k: playOther,
  p: () => setShape(state.shape === "pair" ? "strip" : "pair"),
};

/** Open the list of keys, or close it; another open dialog stays. */
function help() {
  const box = byId("help", HTMLDialogElement);
  if (box.open) box.close();
  else if (!document.querySelector("dialog[open]")) box.showModal();
}

/**
 * What a key does together with Ctrl or Command.
 *
 * @param {string} name
 * @param {boolean} shift
 * @returns {(() => void) | null}
 */
function withControl(name, shift) {
  if (name === "z") return shift ? redo : undo;
  return name === "y" ? redo : null;
}

/**
 * Whether a key is for what has the focus: a button is pressed, a player played and wound, a long text scrolled by it.
 *
 * @param {KeyboardEvent} event
 * @param {string} name
 * @returns {boolean}
 */
function belongsToFocused(event, name) {
  if (around(event, "button, a")) return name === " " || name === "enter";
  if (around(event, "audio")) return name === " " || name.startsWith("arrow");
  const box = around(event, ".words, .rows");
  return box !== null && box.scrollHeight > box.clientHeight && (name === " " || name === "arrowdown");
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (around(event, "input, textarea, select")) return;
  const name = event.key.toLowerCase();
  if (name === "?") {
    event.preventDefault();
    help();
    return;
  }
  if (document.querySelector("dialog[open]:not(#zoom)")) return;
  if (event.ctrlKey || event.metaKey) {
    const does = withControl(name, event.shiftKey);
    if (does) {
      event.preventDefault();
      does();
    }
    return;
  }
  if (event.altKey || event.repeat || state.view !== "ask" || !state.info?.usable) return;
  if (belongsToFocused(event, name)) return;
  if (/^[0-9]$/.test(name)) {
    choose(name === "0" ? null : Number(name) - 1);
  } else if (Object.hasOwn(KEYS, name)) {
    event.preventDefault();
    KEYS[name]();
  }
}

/** Let the page react to the keyboard. */
export function listenToKeys() {
  document.addEventListener("keydown", pressed);
}
