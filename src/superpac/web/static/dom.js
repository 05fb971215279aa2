// Finding and making elements. Text from data and people goes into textContent and attributes only, never into markup.

/** @typedef {Node | string | null | undefined} Child */

/**
 * Element of the page by its id.
 *
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind] the class it must have, where more than HTMLElement is needed
 * @returns {T}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`The page has no #${id} of the expected kind.`);
  return /** @type {T} */ (found);
}

/**
 * Make an element. Beside attributes, `props` may hold `cls` (class), `text`, `colour` (background), `width%` and
 * handlers such as `onclick`; what is null, undefined or false is left out.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name === "text") node.textContent = String(value);
    else if (name === "colour") node.style.background = String(value);
    else if (name === "width%") node.style.width = `${value}%`;
    else node.setAttribute(name === "cls" ? "class" : name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

/**
 * A button that does not send a form.
 *
 * @param {string} text
 * @param {() => unknown} onclick
 * @param {Record<string, unknown>} [props]
 * @returns {HTMLButtonElement}
 */
export function button(text, onclick, props = {}) {
  return make("button", { type: "button", text, onclick, ...props });
}

/**
 * Nearest element around the target of an event that fits a selector.
 *
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function around(event, selector) {
  const target = event.target;
  return target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(selector)) : null;
}

/**
 * Set which button of a switch is pressed.
 *
 * @param {"shape" | "look"} name of the data attribute that tells the buttons apart
 * @param {string} value of the one that is pressed
 */
export function press(name, value) {
  for (const one of document.querySelectorAll(`[data-${name}]`)) {
    one.setAttribute("aria-pressed", String(one.getAttribute(`data-${name}`) === value));
  }
}
