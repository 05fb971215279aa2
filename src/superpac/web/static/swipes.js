// Swipes on a phone: right for same, left for different.

import { answer } from "./answer.js";
import { around, byId } from "./dom.js";
import { ofSeveral, state } from "./state.js";

const STARTS = 24; // pixels after which the cards follow the finger
const COUNTS = 70; // pixels that make a swipe
const STRAIGHT = 60; // pixels up or down that are still a swipe and not scrolling

/** @type {{ x: number, y: number } | null} */
let start = null;

/** @param {string} transform */
function moveCards(transform) {
  for (const card of document.querySelectorAll("#stage .card")) {
    if (card instanceof HTMLElement) card.style.transform = transform;
  }
}

/** @param {number} dx */
function colourCards(dx) {
  byId("stage").classList.toggle("said-same", dx > COUNTS);
  byId("stage").classList.toggle("said-different", dx < -COUNTS);
}

/** @param {TouchEvent} event */
function began(event) {
  const { clientX: x, clientY: y } = event.touches[0];
  const winding = around(event, "audio"); // a finger on a player's bar; not every browser keeps it to itself
  start = event.touches.length === 1 && !winding ? { x, y } : null;
}

/** @param {TouchEvent} event */
function moved(event) {
  if (!start || ofSeveral(state.question)) return;
  const dx = event.touches[0].clientX - start.x;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (Math.abs(dx) > STARTS && !still) moveCards(`translateX(${dx / 3}px)`);
  colourCards(dx);
}

/** @param {TouchEvent} event */
function ended(event) {
  moveCards("");
  colourCards(0);
  if (!start) return;
  const dx = event.changedTouches[0].clientX - start.x;
  const dy = event.changedTouches[0].clientY - start.y;
  start = null;
  if (Math.abs(dx) > COUNTS && Math.abs(dy) < STRAIGHT) answer(dx > 0 ? "same" : "different");
}

/** Let the question react to swipes. */
export function listenToSwipes() {
  const stage = byId("stage");
  stage.addEventListener("touchstart", began, { passive: true });
  stage.addEventListener("touchmove", moved, { passive: true });
  stage.addEventListener("touchend", ended);
}
