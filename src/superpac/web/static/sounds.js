// Sounds: a player below a waveform, one at a time.

import { make } from "./dom.js";
import { picture } from "./pictures.js";
import { session } from "./state.js";

/** @typedef {import("./state.js").Shown} Shown */

let turn = 0; // of the strip's sounds, the one that is played next

/**
 * @param {Shown} card
 * @param {Record<string, unknown>} props
 * @returns {HTMLAudioElement}
 */
function audio(card, props) {
  const src = `/sound/${card.item}?v=${session().id.slice(0, 8)}`;
  const label = `Sound ${card.id}`;
  const node = make("audio", { src, preload: "metadata", "aria-label": label, ...props });
  const mark = () => node.parentElement?.classList.toggle("playing", !node.paused);
  for (const name of ["play", "pause", "ended"]) node.addEventListener(name, mark);
  node.addEventListener("play", () => {
    for (const one of document.querySelectorAll("audio")) if (one !== node) one.pause();
  });
  const words = "This sound cannot be played. Set it aside with “Bad item”.";
  const broken = () => node.replaceWith(make("p", { cls: "broken", text: words }));
  node.addEventListener("error", () => node.getAttribute("src") && broken());
  return node;
}

/**
 * Waveform of an item, and its player below.
 *
 * @param {Shown} card
 * @param {string} [key] that plays it
 * @returns {HTMLElement}
 */
export function player(card, key) {
  const cap = key ? make("kbd", { text: key, title: `${key} plays it` }) : null;
  return make("div", { cls: "sound" }, picture(card), audio(card, { controls: true }), cap);
}

/**
 * Button that plays an item of a strip, whose place for a player would be too small.
 *
 * @param {Shown} card
 * @param {number} n place in the strip, from 1
 * @returns {HTMLElement}
 */
export function playButton(card, n) {
  const label = `Play ${n}`;
  const button = make("button", { type: "button", cls: "quiet play", "data-play": n, "aria-label": label });
  button.append("▶ Play");
  return make("div", { cls: "sound" }, audio(card, { preload: "none" }), button);
}

/**
 * Play a sound of the question from its begin, or stop it.
 *
 * @param {number} n 0 for the first item, then the others
 */
export function play(n) {
  const node = document.querySelectorAll("#stage audio")[n];
  if (!(node instanceof HTMLAudioElement)) return;
  if (!node.paused) {
    node.pause();
    return;
  }
  node.currentTime = 0;
  node.play().catch(() => {}); // another press of the key was faster, or the player says what is wrong
}

/** Play the other item, or the next one of a strip. */
export function playOther() {
  const others = document.querySelectorAll("#stage audio").length - 1;
  if (others < 1) return;
  play(1 + (turn % others));
  turn += 1;
}

/**
 * Stop the sounds within an element that is about to be left, and what is still being loaded.
 *
 * @param {ParentNode} box
 */
export function hush(box) {
  turn = 0;
  for (const node of box.querySelectorAll("audio")) {
    node.pause();
    node.removeAttribute("src");
    node.load();
  }
}
