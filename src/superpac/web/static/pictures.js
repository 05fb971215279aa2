// Pictures of items: their addresses, loading them early, small and large ones.

import { brief } from "./briefs.js";
import { make } from "./dom.js";
import { pictured, session } from "./state.js";

/** @typedef {import("./state.js").Shown} Shown */

const SMALL = 96;
const MEDIUM = 320;
const LARGE = 960;
const FULL = 4096;
const KEPT = 300; // decoded pictures held in memory

/** @type {Map<number, { img: HTMLImageElement, ready: Promise<boolean> }>} */
const loaded = new Map(); // the one used longest ago comes first

/**
 * @param {number} item
 * @param {number} size in pixels
 * @param {boolean} [behind] whether it is the photo that the item is a part of
 * @returns {string}
 */
function address(item, size, behind = false) {
  return `/picture/${item}?size=${size}${behind ? "&behind=1" : ""}&v=${session().id.slice(0, 8)}`;
}

/**
 * Size at which the question shows a picture. Crisp ones are enlarged by the browser.
 *
 * @returns {number}
 */
function askedSize() {
  return session().crisp ? 320 : LARGE;
}

/**
 * Load a picture before it is shown.
 *
 * @param {number} item
 * @returns {Promise<boolean>} whether it can be shown
 */
export function preload(item) {
  let found = loaded.get(item);
  if (found) {
    loaded.delete(item);
  } else {
    const img = new Image();
    img.decoding = "async";
    img.src = address(item, askedSize());
    const ready = img.decode().then(
      () => true,
      () => false,
    );
    found = { img, ready };
  }
  loaded.set(item, found);
  if (loaded.size > KEPT) loaded.delete(/** @type {number} */ (loaded.keys().next().value));
  return found.ready;
}

/**
 * Picture as the question shows it.
 *
 * @param {Shown} card
 * @returns {HTMLImageElement}
 */
export function picture(card) {
  const img = new Image();
  img.alt = `Item ${card.id}`;
  img.draggable = false;
  img.src = address(card.item, askedSize());
  const words = "This picture cannot be shown. Set it aside with “Bad item”.";
  img.addEventListener("error", () => img.replaceWith(make("p", { cls: "broken", text: words })), { once: true });
  return img;
}

/**
 * Button with the photo that an item is a part of, which opens it in the large view; nothing for other items.
 *
 * @param {Shown} card
 * @returns {HTMLButtonElement | null}
 */
export function photoBehind(card) {
  if (!card.behind) return null;
  const img = make("img", { src: address(card.item, MEDIUM, true), alt: "", draggable: "false" });
  const name = `Photo of item ${card.id}`;
  const props = { type: "button", cls: "behind", "data-behind": card.item, "aria-label": name, title: name };
  return make("button", props, img);
}

/**
 * Picture that fills the window: the one at hand at once, and a photo at its full size as soon as it is there.
 *
 * @param {Shown} card
 * @param {boolean} [behind] whether it is the photo that the item is a part of
 * @returns {HTMLImageElement}
 */
export function largePicture(card, behind = false) {
  const img = make("img", { src: address(card.item, LARGE, behind), alt: `Item ${card.id}` });
  if (session().kind === "image" && !session().crisp) {
    const whole = new Image();
    whole.src = address(card.item, FULL, behind);
    whole.decode().then(
      () => (img.src = whole.src),
      () => {}, // the smaller one stays
    );
  }
  return img;
}

/**
 * Picture for walls and lists, or a few words. Its text is empty because what it stands beside names the item.
 *
 * @param {number} item
 * @param {Record<string, unknown>} [props]
 * @returns {HTMLElement}
 */
export function thumb(item, props = {}) {
  if (!pictured()) return brief(item);
  return make("img", { src: address(item, SMALL), alt: "", loading: "lazy", draggable: "false", ...props });
}
