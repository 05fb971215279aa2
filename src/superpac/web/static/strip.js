// A strip: one item beside the groups that it may belong to.

import { answerButton, keycap } from "./buttons.js";
import { figure } from "./cards.js";
import { byId, make } from "./dom.js";
import { clearMarks } from "./marks.js";
import { option } from "./options.js";
import { session } from "./state.js";

/** @typedef {import("./state.js").Question} Question */

/** @param {Question} question */
export function drawStrip(question) {
  clearMarks(false);
  const options = question.others.map((card, n) => option(card, question.item, n, "like item"));
  const strip = make("div", { cls: `options of-${session().kind}`, "data-n": options.length }, ...options);
  byId("stage").replaceChildren(figure(question.item), strip);
  const done = answerButton({ cls: "same", "data-act": "confirm" }, "These", keycap("Enter"));
  done.hidden = true;
  byId("answers").replaceChildren(
    answerButton({ cls: "different", "data-choice": "none" }, "None of these", keycap("0")),
    answerButton({ cls: "unsure", "data-act": "skip" }, "Can’t tell", keycap("Space")),
    answerButton({ cls: "several", "data-act": "several", "aria-pressed": "false" }, "Several", keycap("M")),
    done,
  );
  byId("ask-title").textContent = "Which of these is it like?";
}
