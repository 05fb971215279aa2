// Taking back any answer by its number.

import { act, newKey } from "./api.js";
import { complain } from "./errors.js";
import { banner } from "./messages.js";
import { showProgress } from "./progress.js";
import { show } from "./question.js";
import { forgetQuestion, state } from "./state.js";
import { refresh } from "./views.js";

/**
 * @param {number} seq
 * @returns {Promise<import("./state.js").Reply & { message?: string }>}
 */
function undo(seq) {
  const { annotator, shape } = state;
  return act("/api/undo", { annotator, key: newKey(), shape, seq });
}

/** @param {number} seq */
export async function takeBack(seq) {
  try {
    const found = await undo(seq);
    if (found.message) banner(found.message, { calm: true });
    if (state.view === "ask") {
      await show(found);
      return;
    }
    forgetQuestion();
    refresh();
  } catch (error) {
    complain(error);
  }
}

/** @param {number[]} seqs */
export async function takeBackAll(seqs) {
  try {
    for (const seq of seqs) await undo(seq);
    banner(`Took back #${seqs.join(", #")}.`, { calm: true });
    forgetQuestion();
    showProgress();
  } catch (error) {
    complain(error);
  }
  refresh();
}
