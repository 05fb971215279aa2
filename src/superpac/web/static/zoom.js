// The question's items as large as the window.

import { content } from "./cards.js";
import { around, byId, make } from "./dom.js";
import { largePicture } from "./pictures.js";
import { hush } from "./sounds.js";
import { crispness, ofSeveral, session, state } from "./state.js";

/** @typedef {import("./state.js").Shown} Shown */

/** Close the large view. */
export function closeZoom() {
  byId("zoom", HTMLDialogElement).close();
}

/**
 * @param {Shown} card
 * @param {Shown} [other]
 * @returns {HTMLElement}
 */
function large(card, other) {
  const drawn = ["image", "vector"].includes(session().kind);
  return make("div", {}, drawn ? largePicture(card) : content(card, other));
}

/**
 * Open the large view.
 *
 * @param {number | null} only item to be seen alone; null for both items of a pair
 */
function open(only) {
  if (!state.question) return;
  const { item, others } = state.question;
  const box = byId("zoom", HTMLDialogElement);
  box.className = crispness();
  if (only !== null || ofSeveral(state.question)) {
    const card = [item, ...others].find((one) => one.item === only) ?? item;
    box.replaceChildren(large(card));
  } else {
    box.replaceChildren(large(item, others[0]), large(others[0], item));
  }
  box.showModal();
}

/** Open the large view of the question, or close it. */
export function zoom() {
  if (byId("zoom", HTMLDialogElement).open) closeZoom();
  else open(null);
}

/**
 * Open the photo that an item is a part of.
 *
 * @param {Shown} card
 */
export function openBehind(card) {
  const box = byId("zoom", HTMLDialogElement);
  box.className = "";
  box.replaceChildren(make("div", {}, largePicture(card, true)));
  box.showModal();
}

/**
 * A click on a large photo shows its own pixels; one beside it, or on what is no larger, closes the view.
 *
 * @param {MouseEvent} event
 */
function clickedLarge(event) {
  if (around(event, "audio, .words, .rows")) return;
  const picture = around(event, "img");
  if (!(picture instanceof HTMLImageElement)) {
    closeZoom();
    return;
  }
  const whole = picture.classList.contains("actual");
  const larger = picture.naturalWidth > picture.clientWidth || picture.naturalHeight > picture.clientHeight;
  if (whole || !larger || session().crisp) closeZoom();
  else picture.classList.add("actual");
}

/** Let pictures open the large view, and the large view react to clicks. */
export function listenToZoom() {
  const box = byId("zoom", HTMLDialogElement);
  box.addEventListener("click", clickedLarge);
  box.addEventListener("close", () => hush(box));
  byId("stage").addEventListener("click", (event) => {
    const photo = around(event, "[data-behind]");
    if (photo && state.question) {
      const cards = [state.question.item, ...state.question.others];
      const card = cards.find((one) => one.item === Number(photo.dataset.behind));
      if (card) openBehind(card);
      return;
    }
    const picture = around(event, ".card .frame > img");
    const cards = [...byId("stage").querySelectorAll(".card")];
    const n = picture ? cards.findIndex((card) => card.contains(picture)) : -1;
    if (n >= 0 && state.question) open([state.question.item, ...state.question.others][n].item);
  });
}
