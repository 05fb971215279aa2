// The keyboard: every act has a key.

import { answer, bad, choose, confirm, redo, several, skip, undo } from "./answer.js";
import { redoHere, undoHere } from "./arrange.js";
import { around, byId } from "./dom.js";
import { moveFocus, placeOf } from "./options.js";
import { setShape } from "./question.js";
import { play, playOther } from "./sounds.js";
import { ofSeveral, state } from "./state.js";
import { recall, remember } from "./storage.js";
import { zoom } from "./zoom.js";

/** @type {Record<string, () => void>} */
const KEYS = {
  s: () => answer("same"),
  arrowright: () => answer("same"),
  d: () => answer("different"),
  arrowleft: () => answer("different"),
  u: () => answer("unsure"),
  arrowdown: () => (ofSeveral(state.question) ? skip() : answer("unsure")),
  " ": skip,
  backspace: undo,
  z: zoom,
  b: bad,
  j: () => play(0),
  k: playOther,
  m: several,
  x: skip,
  enter: confirm,
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
  const asking = state.view === "ask";
  if (name === "z" && !shift) return asking ? undo : undoHere;
  return name === "y" || name === "z" ? (asking ? redo : redoHere) : null;
}

/**
 * Whether a key is for what has the focus: a button is pressed, a player played and wound, a long text scrolled by it.
 *
 * @param {KeyboardEvent} event
 * @param {string} name
 * @returns {boolean}
 */
function belongsToFocused(event, name) {
  if (around(event, ".option") && name === "enter" && onSheet()) return false; // Space marks, Enter sends
  if (around(event, "[aria-pressed=true]:not(.option)") && name === "enter") return false; // pressed already
  if (around(event, "button, a")) return name === " " || name === "enter";
  if (around(event, "audio")) return name === " " || name.startsWith("arrow");
  const box = around(event, ".words, .rows");
  return box !== null && box.scrollHeight > box.clientHeight && (name === " " || name === "arrowdown");
}

/**
 * Whether a wall or a board is shown, where keys mark.
 *
 * @returns {boolean}
 */
function onSheet() {
  return state.question?.shape === "wall" || state.question?.shape === "board";
}

/**
 * What a key does on a wall or a board; false where it does what it does elsewhere.
 *
 * @param {KeyboardEvent} event
 * @param {string} name
 * @returns {boolean}
 */
function sheetKey(event, name) {
  if (name === "arrowleft" || name === "arrowright" || name === "arrowup" || name === "arrowdown") moveFocus(name);
  else if (placeOf(name) >= 0) choose(placeOf(name));
  else if (name !== " ") return false; // with no option in focus nothing is marked, and nothing skipped by a slip
  event.preventDefault();
  return true;
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (around(event, "input, textarea, select")) return;
  const name = event.key.toLowerCase();
  const single = !event.ctrlKey && !event.metaKey;
  if (single && !byId("single-keys", HTMLInputElement).checked) return;
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
  if (onSheet() && sheetKey(event, name)) return;
  const typed = /^[0-9]$/.test(name); // on some keyboards with Shift
  const digit = typed ? name : /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1];
  if (digit !== undefined) {
    if (event.shiftKey && !typed) several();
    choose(digit === "0" ? null : Number(digit) - 1);
  } else if (Object.hasOwn(KEYS, name)) {
    event.preventDefault();
    KEYS[name]();
  }
}

/** Let the page react to the keyboard, and single keys be switched off. */
export function listenToKeys() {
  const box = byId("single-keys", HTMLInputElement);
  box.checked = recall("single-keys") !== "off";
  box.addEventListener("change", () => remember("single-keys", box.checked ? "on" : "off"));
  document.addEventListener("keydown", pressed);
}
