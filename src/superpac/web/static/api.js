// Talking to the server.

import { Refused } from "./errors.js";
import { banner, hideBanner } from "./messages.js";

const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 4000;

/**
 * @param {number} ms
 * @returns {Promise<void>}
 */
export function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

/**
 * A key under which an act may be sent several times and is recorded once.
 *
 * @returns {string}
 */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Send one request: GET without a body, POST with one.
 *
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} what the server replied; Refused is thrown when it said no
 */
export async function call(path, body, signal) {
  /** @type {RequestInit} */
  const options = { credentials: "same-origin", signal };
  if (body !== undefined) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  const reply = await fetch(path, options);
  const found = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Refused(reply.status, found);
  return found;
}

/**
 * Send something that changes the log. It is sent again under the same key until it is known to be saved or refused.
 *
 * @param {string} path
 * @param {{ annotator: string, key: string } & Record<string, unknown>} body
 * @returns {Promise<any>}
 */
export async function act(path, body) {
  for (let n = 0; ; n += 1) {
    try {
      const found = await call(path, body);
      if (n > 0) hideBanner();
      return found;
    } catch (error) {
      if (error instanceof Refused && !error.body.retryable) throw error;
      const lost = "The server does not answer; your answer is not saved yet.";
      banner(`${error instanceof Refused ? error.message : lost} Trying again…`);
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(n, 4), LONGEST_PAUSE_MS));
    }
  }
}
