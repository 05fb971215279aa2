// What the browser keeps between visits: the person's name and the shape of question they like.

/**
 * @param {string} name
 * @returns {string | null}
 */
export function recall(name) {
  try {
    return localStorage.getItem(`superpac.${name}`);
  } catch {
    return null; // private windows may refuse
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(`superpac.${name}`, value);
  } catch {
    // private windows may refuse; the choice then holds until the page is closed
  }
}
