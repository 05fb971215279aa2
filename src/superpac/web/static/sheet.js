// A wall of items, or a board of groups, beside one that stands for its group: mark some, then send.

import { answerButton, keycap } from "./buttons.js";
import { figure } from "./cards.js";
import { byId, make } from "./dom.js";
import { clearMarks } from "./marks.js";
import { option, rove } from "./options.js";
import { session } from "./state.js";

/** @typedef {import("./state.js").Question} Question */

/**
 * The words of a form.
 *
 * @typedef {object} Words
 * @property {string} title what is asked
 * @property {string} face what stands above the first item
 * @property {string} like what a screen reader says before an item's name
 * @property {string} none on the button that sends, while nothing is marked
 * @property {string} some on it otherwise, before the number
 */

/**
 * @param {Question} question
 * @param {Words} words
 */
export function drawSheet(question, { title, face, like, none, some }) {
  clearMarks(true);
  const options = question.others.map((card, n) => option(card, question.item, n, like));
  const label = make("p", { cls: "face-of", text: face });
  const sheet = make(
    "div",
    { cls: `options sheet of-${session().kind}`, "data-n": options.length, role: "group", "aria-label": title },
    ...options,
  );
  byId("stage").replaceChildren(make("div", { cls: "faced" }, label, figure(question.item)), sheet);
  rove(0);
  const done = answerButton({ cls: "same", "data-act": "confirm", "data-none": none, "data-some": some });
  done.append(make("span", { "data-count": "", text: none }), keycap("Enter"));
  byId("answers").replaceChildren(
    answerButton({ cls: "unsure", "data-act": "skip" }, "Can’t tell", keycap("X")),
    done,
  );
  byId("ask-title").textContent = title;
}
