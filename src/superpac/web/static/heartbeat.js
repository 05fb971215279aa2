// Whether the server is still there: told when it is not, and when it is again.

import { call } from "./api.js";
import { complain, Refused } from "./errors.js";
import { banner, hideBanner, say } from "./messages.js";
import { prepare } from "./preparing.js";
import { busy, state } from "./state.js";

const BEAT_MS = 3000;
const LATE_MS = 8000;

let lost = false;

/** Look once; while an answer is on its way, that tells how things are. */
async function beat() {
  if (document.hidden || busy() || !state.info?.usable) return;
  try {
    /** @type {import("./state.js").SessionInfo} */
    const info = await call("/api/session", undefined, AbortSignal.timeout(LATE_MS));
    if (!lost) return;
    lost = false;
    hideBanner();
    say("Connected again.");
    state.info = info;
    if (!info.usable) prepare(); // it was started anew and is at its first clustering
  } catch (error) {
    if (busy() || (error instanceof Refused && error.status !== 401)) return;
    lost = true;
    if (error instanceof Refused) complain(error);
    else banner("Connection lost; trying again…");
  }
}

/** Look now and then. */
export function listenToHeart() {
  setInterval(beat, BEAT_MS);
}
