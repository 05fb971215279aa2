// The person's name, which stands beside their answers.

import { byId } from "./dom.js";
import { ask } from "./question.js";
import { state } from "./state.js";
import { remember } from "./storage.js";

const LONGEST = 80;

/** Show the name in the header. */
function showName() {
  byId("who").textContent = state.annotator || "Who are you?";
}

/** Take the name from the dialog; the question that was out under the old name is given back. */
function takeName() {
  if (byId("name", HTMLDialogElement).returnValue !== "save") return;
  const was = state.annotator;
  state.annotator = byId("name-input", HTMLInputElement).value.trim().slice(0, LONGEST);
  remember("annotator", state.annotator);
  showName();
  byId("main").focus({ preventScroll: true });
  if (state.info?.usable) ask({ was });
}

/** Show the name and let it be changed. */
export function listenToName() {
  const dialog = byId("name", HTMLDialogElement);
  byId("who").addEventListener("click", () => {
    byId("name-input", HTMLInputElement).value = state.annotator;
    dialog.showModal();
  });
  dialog.addEventListener("close", takeName);
  showName();
}
