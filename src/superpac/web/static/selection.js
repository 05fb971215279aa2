// Items that are selected on the walls or on the map, shared by both; what is done with them is in arrange.js.

/** @type {Set<number>} */
const chosen = new Set();
/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {() => void} heard called whenever the selection changes */
export function onSelect(heard) {
  listeners.add(heard);
}

function changed() {
  for (const heard of listeners) heard();
}

/**
 * Items in the order in which they were selected.
 *
 * @returns {number[]}
 */
export function selected() {
  return [...chosen];
}

/**
 * @param {number} item
 * @returns {boolean}
 */
export function isSelected(item) {
  return chosen.has(item);
}

/** Whether any item is selected. */
export function anySelected() {
  return chosen.size > 0;
}

/** @param {number} item */
export function toggle(item) {
  if (!chosen.delete(item)) chosen.add(item);
  changed();
}

/**
 * Add items, or take them out.
 *
 * @param {Iterable<number>} items
 * @param {boolean} [into]
 */
export function select(items, into = true) {
  for (const item of items) {
    if (into) chosen.add(item);
    else chosen.delete(item);
  }
  changed();
}

/** Select nothing. */
export function clearSelection() {
  if (!chosen.size) return;
  chosen.clear();
  changed();
}
