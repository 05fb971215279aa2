// Where the keyboard is: it stays on the same button when the question is drawn anew.

const MARKS = ["data-answer", "data-choice", "data-act", "data-shape"];

let last = ""; // the button that had the focus when its place was emptied

/**
 * Selector of a button by what it does.
 *
 * @param {Element | null} node
 * @returns {string}
 */
function meaning(node) {
  const name = MARKS.find((mark) => node?.hasAttribute(mark));
  return name ? `[${name}="${CSS.escape(node?.getAttribute(name) ?? "")}"]` : "";
}

/**
 * Draw a part of the page anew; if the focus was on a button of it, it is on the one that does the same afterwards.
 *
 * @param {HTMLElement} root
 * @param {() => void} draw
 */
export function keepFocus(root, draw) {
  const was = document.activeElement;
  if (was !== null && root.contains(was)) last = meaning(was);
  else if (was !== null && was !== document.body) last = "";
  draw();
  if (!last || root.contains(document.activeElement)) return;
  const any = "button[data-answer], button[data-choice]";
  const found = root.querySelector(`${last}:not([hidden])`) ?? root.querySelector(any);
  if (found instanceof HTMLElement) found.focus({ preventScroll: true });
}
