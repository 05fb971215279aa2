// The labelling page: puts its parts together and starts it.

import { answer, bad, choose, confirm, redo, several, skip, undo } from "./answer.js";
import { listenToBench } from "./arrange.js";
import { listenToClusters, showClusters } from "./clusters.js";
import { around, byId, press } from "./dom.js";
import { listenToDragging } from "./dragging.js";
import { showExport } from "./export.js";
import { showHistory, showNewer, showOlder } from "./history.js";
import { listenToHeart } from "./heartbeat.js";
import { listenToInstructions } from "./instructions.js";
import { listenToKeys } from "./keys.js";
import { listenToMap, showMap } from "./map.js";
import { hideBanner } from "./messages.js";
import { listenToName } from "./name.js";
import { cancelOrRestart, prepare } from "./preparing.js";
import { ask, goOn, restart, setShape } from "./question.js";
import { showReview } from "./review.js";
import { onSelect } from "./selection.js";
import { play } from "./sounds.js";
import { asShape, state } from "./state.js";
import { recall, remember } from "./storage.js";
import { listenToSwipes } from "./swipes.js";
import { takeBack } from "./takeback.js";
import { enter, onEnter } from "./views.js";
import { listenToWalls, markWalls } from "./wall.js";
import { listenToZoom, zoom } from "./zoom.js";

/** @type {Record<string, () => void>} */
const ACTS = { skip, undo, redo, zoom, bad, restart, several, confirm, goOn };

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
  const wanted = asShape(shape);
  if (wanted) setShape(wanted);
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
onEnter("review", showReview);
onEnter("history", showHistory);
onEnter("export", showExport);

document.addEventListener("click", clicked);
byId("help-button").addEventListener("click", () => byId("help", HTMLDialogElement).showModal());
byId("older").addEventListener("click", showOlder);
byId("newer").addEventListener("click", showNewer);
byId("cancel").addEventListener("click", cancelOrRestart);
window.addEventListener("hashchange", () => {
  enter();
  byId("main").focus({ preventScroll: true });
});
const why = byId("why", HTMLDetailsElement);
why.open = recall("why") === "open";
why.addEventListener("toggle", () => remember("why", why.open ? "open" : "closed"));
listenToKeys();
listenToInstructions();
listenToHeart();
listenToSwipes();
listenToZoom();
listenToMap();
listenToWalls();
listenToClusters();
onSelect(markWalls);
listenToBench();
listenToDragging();
listenToName();
prepare();
