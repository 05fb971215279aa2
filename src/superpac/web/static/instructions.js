// Instructions of whoever began the work: shown before the first question, and again from Help.

import { byId } from "./dom.js";
import { recall, remember } from "./storage.js";

/** Show the instructions where there are some and this browser has not seen these yet. */
export function listenToInstructions() {
  const found = document.getElementById("instructions");
  if (!(found instanceof HTMLDialogElement)) return;
  const mark = found.dataset.mark ?? "";
  byId("show-instructions").addEventListener("click", () => {
    byId("help", HTMLDialogElement).close();
    found.showModal();
  });
  found.addEventListener("close", () => remember("instructions", mark));
  if (recall("instructions") !== mark) found.showModal();
}
