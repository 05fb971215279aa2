// Dragging on the walls with a mouse or a pen: a band selects items; selected ones can be dropped on a head.

import { arrange } from "./arrange.js";
import { around, byId, make } from "./dom.js";
import { isSelected, select, selected } from "./selection.js";
import { allWalls } from "./wall.js";

const SLIP = 6; // pixels within which it is a click

/** @type {{ x: number, y: number, carried: boolean, moved: boolean, mark: HTMLElement | null } | null} */
let drag = null;

/**
 * @param {PointerEvent} event
 * @returns {DOMRect}
 */
function band(event) {
  const { x, y } = drag ?? { x: 0, y: 0 };
  const left = Math.min(x, event.clientX);
  const top = Math.min(y, event.clientY);
  return new DOMRect(left, top, Math.abs(event.clientX - x), Math.abs(event.clientY - y));
}

/**
 * Head of the group under the pointer.
 *
 * @param {PointerEvent} event
 * @returns {HTMLElement | null}
 */
function headAt(event) {
  const below = document.elementFromPoint(event.clientX, event.clientY);
  return below?.closest(".cluster") ? /** @type {HTMLElement | null} */ (below.closest("[data-first]")) : null;
}

function unmarkHeads() {
  for (const head of document.querySelectorAll(".target")) head.classList.remove("target");
}

/** @param {PointerEvent} event */
function began(event) {
  if (event.pointerType === "touch" || event.button !== 0) return;
  if (!around(event, ".cluster") || around(event, "input, button, a")) return;
  const tile = around(event, ".thumb");
  const carried = tile !== null && isSelected(Number(tile.dataset.item));
  drag = { x: event.clientX, y: event.clientY, carried, moved: false, mark: null };
}

/** @param {PointerEvent} event */
function moved(event) {
  if (!drag) return;
  const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > SLIP;
  if (!drag.moved && !far) return;
  if (!drag.mark) {
    const words = `${selected().length.toLocaleString()} selected`;
    drag.mark = make("div", drag.carried ? { cls: "carried", text: words } : { cls: "band" });
    document.body.append(drag.mark);
    drag.moved = true;
  }
  event.preventDefault();
  const { style } = drag.mark;
  if (drag.carried) {
    style.left = `${event.clientX + 12}px`;
    style.top = `${event.clientY + 12}px`;
    unmarkHeads();
    headAt(event)?.classList.add("target");
    return;
  }
  const box = band(event);
  style.left = `${box.left}px`;
  style.top = `${box.top}px`;
  style.width = `${box.width}px`;
  style.height = `${box.height}px`;
}

/** @param {PointerEvent} event */
function ended(event) {
  const last = drag;
  if (last?.moved) {
    if (last.carried) {
      const head = headAt(event);
      if (head) arrange("move", selected(), { to: Number(head.dataset.first) });
    } else {
      const box = band(event);
      const found = allWalls().flatMap((wall) => wall.touching(box));
      select(found, !event.altKey);
    }
    // the click that follows is part of the drag
    window.addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
    setTimeout(() => window.dispatchEvent(new Event("click")), 0);
  }
  stopped();
}

function stopped() {
  drag?.mark?.remove();
  unmarkHeads();
  drag = null;
}

/** Let the walls react to dragging. */
export function listenToDragging() {
  const walls = byId("walls");
  walls.addEventListener("pointerdown", began);
  walls.addEventListener("dragstart", (event) => event.preventDefault());
  window.addEventListener("pointermove", moved);
  window.addEventListener("pointerup", ended);
  window.addEventListener("pointercancel", stopped);
}
