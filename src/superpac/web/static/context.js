// What a card stands for: its group's name, which can be given here, and some other members of the group.

import { act, newKey } from "./api.js";
import { byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { say } from "./messages.js";
import { thumb } from "./pictures.js";
import { pictured, state } from "./state.js";

/** @typedef {import("./state.js").Card} Card */
/** @typedef {import("./state.js").Group} Group */

/**
 * Write a name for the group of an item; an empty one takes the name away.
 *
 * @param {number} item
 * @param {string} name
 */
export async function nameGroup(item, name) {
  await act("/api/names", { annotator: state.annotator, key: newKey(), item, name });
  say(name ? `Named ${name}.` : "The name is taken away.");
}

/**
 * Field with the name of a card's group.
 *
 * @param {Card} card
 * @param {Group} group
 * @returns {HTMLInputElement}
 */
function nameField(card, group) {
  const input = make("input", {
    cls: "group-name",
    value: group.name,
    placeholder: `Name cluster ${group.number}`,
    title: `Name this group of ${group.size.toLocaleString()}`,
    maxlength: "80",
    "aria-label": `Name of cluster ${group.number}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  input.addEventListener("change", async () => {
    try {
      group.name = input.value.trim();
      await nameGroup(card.item, group.name);
    } catch (error) {
      complain(error);
    }
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Escape") input.value = group.name;
    input.blur(); // a change is written, and keys answer again
    byId("main").focus({ preventScroll: true });
  });
  return input;
}

/**
 * Other members of the group, small.
 *
 * @param {Card} card
 * @returns {HTMLElement | null}
 */
function faces(card) {
  if (!card.faces.length || !pictured()) return null;
  const whose = card.group?.name || (card.group ? `cluster ${card.group.number}` : "the same group");
  const label = `${card.faces.length} others of ${whose}`;
  const props = { cls: "faces", role: "img", "aria-label": label, title: label };
  return make("div", props, ...card.faces.map((item) => thumb(item)));
}

/**
 * What stands below an item in a question.
 *
 * @param {Card} card
 * @returns {HTMLElement}
 */
export function context(card) {
  const { group } = card;
  const alone = card.faces.length ? "Answers say these are the same" : "To be placed";
  const name = group ? nameField(card, group) : make("span", { cls: "group-name muted", text: alone });
  return make("div", { cls: "context" }, name, faces(card));
}
