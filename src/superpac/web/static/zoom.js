// The question's items as large as the window.

import { table } from "./cards.js";
import { byId, make } from "./dom.js";
import { largePicture } from "./pictures.js";
import { crispness, state } from "./state.js";

/** Close the large view. */
export function closeZoom() {
  byId("zoom", HTMLDialogElement).close();
}

/** Open the large view, or close it. */
export function zoom() {
  const box = byId("zoom", HTMLDialogElement);
  if (box.open) {
    box.close();
    return;
  }
  if (!state.question) return;
  const { shape, item, others } = state.question;
  const cards = shape === "strip" ? [item] : [item, ...others];
  box.className = crispness();
  const parts = cards.map((card) => make("div", {}, card.rows.length ? table(card) : largePicture(card)));
  box.replaceChildren(...parts);
  box.showModal();
}
