// Acts on what is selected: move, split off, all one, not this group, set aside, merge groups. Each has one undo.

import { act, newKey } from "./api.js";
import { button, byId, make } from "./dom.js";
import { complain } from "./errors.js";
import { openItem } from "./item.js";
import { banner, say } from "./messages.js";
import { showProgress } from "./progress.js";
import { clearSelection, onSelect, selected } from "./selection.js";
import { forgetQuestion, state } from "./state.js";
import { refresh } from "./views.js";

/**
 * A group as one chooses it: what it is called, and an item that is in it.
 *
 * @typedef {{ title: string, item: number, cluster: number }} Choice
 */

const MOST = 8000; // items in one act

/** @type {Choice[]} */
let groups = [];
let sending = false;
/** @type {Promise<void>} */
let turns = Promise.resolve(); // undo and redo one after the other: whoever presses twice at once means both

/**
 * Say which groups there are, for the fields that complete their names.
 *
 * @param {Choice[]} found
 */
export function offerGroups(found) {
  groups = found;
  byId("group-names").replaceChildren(...found.map((group) => make("option", { value: group.title })));
}

/**
 * Group by what was typed: its whole title in any case, else the only one that begins so.
 *
 * @param {string} typed
 * @param {number} [besides] a group that is not meant, though another may be called the same
 * @returns {Choice | null}
 */
export function groupCalled(typed, besides) {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return null;
  const others = groups.filter((group) => group.cluster !== besides);
  const whole = others.find((group) => group.title.toLowerCase() === wanted);
  const begun = others.filter((group) => group.title.toLowerCase().startsWith(wanted));
  return whole ?? (begun.length === 1 ? begun[0] : null);
}

/**
 * Do one act and show what became of it, with a button that takes it back.
 *
 * @param {string} what
 * @param {number[]} items
 * @param {{ to?: number, name?: string }} [more]
 * @returns {Promise<boolean>} whether it was done
 */
export async function arrange(what, items, more = {}) {
  if (sending || !items.length) return false;
  if (items.length > MOST) {
    banner(`${items.length.toLocaleString()} items are selected; one act takes ${MOST.toLocaleString()} at most.`);
    return false;
  }
  sending = true;
  try {
    const found = await act("/api/arrange", {
      annotator: state.annotator,
      key: newKey(),
      act: what,
      items,
      ...more,
    });
    clearSelection();
    forgetQuestion();
    refresh();
    showProgress();
    banner(found.message, { calm: true, buttons: [button("Undo", undoHere)] });
    say(found.message);
    return true;
  } catch (error) {
    complain(error);
    return false;
  } finally {
    sending = false;
  }
}

/**
 * Take back one's last act, or put it back, without leaving the view.
 *
 * @param {"undo" | "redo"} way
 */
function turn(way) {
  turns = turns.then(() => turnOnce(way));
}

/** @param {"undo" | "redo"} way */
async function turnOnce(way) {
  if (sending) return;
  sending = true;
  try {
    const { annotator, shape } = state;
    const found = await act(`/api/${way}`, { annotator, key: newKey(), shape });
    forgetQuestion();
    refresh();
    showProgress();
    if (found.message) {
      banner(found.message, { calm: true });
      say(found.message);
    }
  } catch (error) {
    complain(error);
  } finally {
    sending = false;
  }
}

/** Take back one's last act from any view. */
export function undoHere() {
  turn("undo");
}

/** Put back what one undid last, from any view. */
export function redoHere() {
  turn("redo");
}

/** Move what is selected to the group that was typed; a name that nobody has yet makes a new group. */
function moveToTyped() {
  const field = byId("move-to", HTMLInputElement);
  const typed = field.value.trim();
  const group = groupCalled(typed);
  const done = group
    ? arrange("move", selected(), { to: group.item })
    : typed
      ? arrange("split", selected(), { name: typed })
      : Promise.resolve(false);
  if (!typed) field.focus();
  done.then((well) => {
    if (well) field.value = "";
  });
}

/** Show how many are selected and what can be done with them. */
function showBar() {
  const count = selected().length;
  const bar = byId("bench");
  const was = bar.hidden;
  bar.hidden = count === 0 || state.view !== "clusters";
  byId("bench-count").textContent = `${count.toLocaleString()} selected`;
  const aside = document.querySelector(".aside .thumb[aria-selected='true']") !== null;
  byId("bench-aside").hidden = aside;
  byId("bench-back").hidden = !aside;
  if (was !== bar.hidden) document.body.classList.toggle("selecting", !bar.hidden);
}

/** Ask which group another is merged into, and do it. */
export function mergeDialog(/** @type {Choice} */ group) {
  const box = byId("merge", HTMLDialogElement);
  const field = byId("merge-into", HTMLInputElement);
  byId("merge-title").textContent = `Merge ${group.title} into…`;
  field.value = "";
  box.onclose = () => {
    const into = groupCalled(field.value, group.cluster);
    if (box.returnValue !== "merge") return;
    if (into) arrange("merge", [into.item, group.item]);
    else banner(`There is no other group called “${field.value}”; choose one from the list.`);
  };
  box.returnValue = "";
  box.showModal();
  field.focus();
}

/**
 * Offer to merge a group that was just named as another is: whoever gives two one name mostly means one group.
 *
 * @param {Choice} group
 */
export function offerMerge(group) {
  const other = groups.find(
    ({ cluster, title }) => cluster !== group.cluster && title.toLowerCase() === group.title.toLowerCase(),
  );
  if (!other) return;
  const words = `Two groups are called “${group.title}” now.`;
  banner(words, { calm: true, buttons: [button("Merge them", () => arrange("merge", [other.item, group.item]))] });
  say(words);
}

/** Let the bar and its buttons work. */
export function listenToBench() {
  onSelect(showBar);
  window.addEventListener("hashchange", showBar);
  byId("bench-form").addEventListener("submit", (event) => {
    event.preventDefault();
    moveToTyped();
  });
  for (const one of document.querySelectorAll("[data-arrange]")) {
    one.addEventListener("click", () => arrange(one.getAttribute("data-arrange") ?? "", selected()));
  }
  byId("bench-clear").addEventListener("click", clearSelection);
  byId("bench-look").addEventListener("click", () => openItem(selected()[selected().length - 1]));
  document.addEventListener("keydown", (event) => {
    const free = state.view === "clusters" && !document.querySelector("dialog[open]");
    if (event.key === "Escape" && free) clearSelection();
  });
}
