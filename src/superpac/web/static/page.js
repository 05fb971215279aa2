// The labelling page: puts its parts together and starts it.

import { answer, bad, choose, redo, skip, undo } from "./answer.js";
import { showClusters } from "./clusters.js";
import { around, byId, press } from "./dom.js";
import { showExport } from "./export.js";
import { showHistory, showOlder } from "./history.js";
import { listenToKeys } from "./keys.js";
import { listenToMap, showMap } from "./map.js";
import { hideBanner } from "./messages.js";
import { listenToName } from "./name.js";
import { cancelOrRestart, prepare } from "./preparing.js";
import { ask, restart, setShape } from "./question.js";
import { play } from "./sounds.js";
import { state } from "./state.js";
import { listenToSwipes } from "./swipes.js";
import { takeBack } from "./takeback.js";
import { enter, onEnter } from "./views.js";
import { listenToZoom, zoom } from "./zoom.js";

/** @type {Record<string, () => void>} */
const ACTS = { skip, undo, redo, zoom, bad, restart };

/**
 * Show the clusters as walls or as a map.
 *
 * @param {"walls" | "map"} look
 */
function setLook(look) {
  state.look = look;
  press("look", look);
  byId("walls").hidden = look === "map";
  byId("map").hidden = look !== "map";
  enter();
}

/**
 * Do what the data attribute of a clicked button says.
 *
 * @param {MouseEvent} event
 */
function clicked(event) {
  const button = around(event, "button");
  const { act, answer: said, choice, shape, look, play: n, takeBack: seq } = button?.dataset ?? {};
  if (act) ACTS[act]();
  if (said === "same" || said === "different" || said === "unsure") answer(said);
  if (choice) choose(choice === "none" ? null : Number(choice));
  if (shape === "pair" || shape === "strip") setShape(shape);
  if (look === "walls" || look === "map") setLook(look);
  if (n) play(Number(n));
  if (seq) {
    hideBanner();
    takeBack(Number(seq));
  }
}

onEnter("ask", () => {
  if (!state.finished) ask();
});
onEnter("clusters", () => (state.look === "map" ? showMap() : showClusters()));
onEnter("history", showHistory);
onEnter("export", showExport);

document.addEventListener("click", clicked);
byId("help-button").addEventListener("click", () => byId("help", HTMLDialogElement).showModal());
byId("older").addEventListener("click", showOlder);
byId("cancel").addEventListener("click", cancelOrRestart);
window.addEventListener("hashchange", () => {
  enter();
  byId("main").focus({ preventScroll: true });
});
listenToKeys();
listenToSwipes();
listenToZoom();
listenToMap();
listenToName();
prepare();
