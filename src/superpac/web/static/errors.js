// What went wrong, and how the person is told.

import { make } from "./dom.js";
import { banner } from "./messages.js";

/**
 * Body of a reply that refuses.
 *
 * @typedef {object} Problem
 * @property {string} [detail]
 * @property {number[]} [chain] earlier answers that speak against this one
 * @property {boolean} [retryable]
 * @property {import("./state.js").Question | null} [question]
 * @property {boolean} [finished]
 */

/** The server answered, and said no. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {Problem} body
   */
  constructor(status, body) {
    super(body.detail || "Something went wrong.");
    this.status = status;
    this.body = body;
  }
}

/**
 * Tell the person about an error. Where earlier answers stand in the way, each gets a button that takes it back.
 * page.js handles the click, so that this file need not know how that is done.
 *
 * @param {unknown} error
 */
export function complain(error) {
  if (!(error instanceof Refused)) {
    banner("The server does not answer. Is it still running?");
    return;
  }
  if (error.status === 401) {
    const words = "This page's key has run out: the server was started anew.";
    banner(`${words} Open the address that the terminal printed.`);
    return;
  }
  const chain = error.body.chain || [];
  const buttons = chain.map((seq) => make("button", { text: `Take back #${seq}`, "data-take-back": seq }));
  banner(chain.length ? `That contradicts earlier answers: ${error.message}.` : error.message, { buttons });
}
